#include "textflag.h"

// func exit()
TEXT ·exit(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $4, R0
	MOVD $94, R8 // exit_group
	SVC
	BRK

// func exitAddress() uintptr
TEXT ·exitAddress(SB), NOSPLIT, $0-8
	MOVD $·exit(SB), R0
	MOVD R0, ret+0(FP)
	RET
