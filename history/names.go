package history

// names is a number for each of very many names, in 8 bytes and a bit: a hash table with
// open addressing that does not keep the names. Two names may have one hash, and so one
// number; their intents are then in one part, which is slower and not wrong. Of ten million
// names some tens do. The zero value is empty.
type names struct {
	slots []uint64 // hash and number; 0: free
	used  int
}

// numberBits is how many bits of a slot are the number. The others are the hash.
const numberBits = 24

// mostNumbers is how many numbers there are.
const mostNumbers = 1 << numberBits

// set gives the name with a hash its number, which is less than mostNumbers, unless it has one.
func (n *names) set(hash uint64, number uint32) {
	if 10*n.used >= 7*len(n.slots) {
		old := n.slots
		n.slots = make([]uint64, max(1<<10, 2*len(old)))
		for _, slot := range old {
			if slot != 0 {
				n.slots[n.find(slot>>numberBits)] = slot
			}
		}
	}
	if at := n.find(hash); n.slots[at] == 0 {
		n.slots[at] = hash<<numberBits | uint64(number)
		n.used++
	}
}

// get returns the number of the name with a hash, and whether it has one.
func (n *names) get(hash uint64) (uint32, bool) {
	if n.used == 0 {
		return 0, false
	}
	slot := n.slots[n.find(hash)]
	return uint32(slot % mostNumbers), slot != 0
}

// find returns the slot of a hash, or the free one where it would be.
func (n *names) find(hash uint64) int {
	mask := len(n.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		if slot := n.slots[at]; slot == 0 || slot>>numberBits == hash {
			return at
		}
	}
}

// hashOf is FNV-1a, mixed, in as many bits as a slot has for it, and never 0.
func hashOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h ^= h >> 29
	return h*0x9e3779b97f4a7c15>>numberBits | 1
}
