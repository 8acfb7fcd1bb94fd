package orders

// olderPathSameKeyDesign takes orders at two paths, and remembers their keys in one table.
func olderPathSameKeyDesign() Design {
	d := keyInEitherPlaceDesign()
	d.Name = "older-path-same-key"
	d.Summary = "takes orders at the path of older clients, too, with the key in the body: one table has the keys of both"
	d.ways, d.routes = byOlderPath, (*api).servesOlderPath
	return d
}
