/*
 * The boot sector of a disk that only says that it booted, for ever and at once
 * every second or so: "DISK". It reads nothing and writes nothing.
 */
	.code16
	.globl _start
_start:
	cli
	xor %ax, %ax
	mov %ax, %ds
	mov $0x7c00, %sp
	sti
again:
	mov $(0x7c00 + message - _start), %si
next:
	lodsb
	test %al, %al
	jz rest
	mov %al, %ah
ready:
	mov $0x3fd, %dx
	in %dx, %al
	test $0x20, %al
	jz ready
	mov %ah, %al
	mov $0x3f8, %dx
	out %al, %dx
	jmp next
rest:
	mov $18, %cx	/* timer interrupts, 18.2 a second */
tick:
	hlt
	loop tick
	jmp again
message:
	.asciz "DISK\r\n"
	.org 510
	.word 0xaa55
