package scenarios

import "reflect"

// clone copies a scenario with everything that its pointers, slices and maps lead to, so that a change of the copy
// leaves the original alone. A nil stays nil.
func (s Scenario) clone() Scenario {
	return deepCopy(reflect.ValueOf(s)).Interface().(Scenario)
}

// deepCopy copies a value that has only exported fields, as the types of files have. By
// reflection, a new field of a scenario needs no line here, and none can be forgotten.
func deepCopy(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			to.Field(i).Set(deepCopy(v.Field(i)))
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return to
		}
		inner := deepCopy(v.Elem())
		// An interface takes the copy itself, a pointer the address of one.
		if v.Kind() == reflect.Interface {
			to.Set(inner)
			return to
		}
		to.Set(reflect.New(v.Type().Elem()))
		to.Elem().Set(inner)
	case reflect.Slice:
		if v.IsNil() {
			return to
		}
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			to.Index(i).Set(deepCopy(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return to
		}
		to.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for member := v.MapRange(); member.Next(); {
			to.SetMapIndex(member.Key(), deepCopy(member.Value()))
		}
	default:
		to.Set(v)
	}
	return to
}
