/*
 * A guest that can be counted on: a multiboot kernel of a few kilobytes for
 * "qemu -machine pc -kernel guest.elf -append WORDS". It boots in 8 MiB and
 * prints to the first serial port, every tick:
 *
 *   CNT name n boot sum
 *
 * n counts from 0, boot is drawn once per boot, and sum is computed anew from the
 * filled memory each time. So a console tells whether a guest went on exactly
 * where it stood, was booted again, ran twice, or came back with other memory.
 *
 * Words: name=TEXT, run=N (power off by ACPI after count N; 0: never),
 * exit=N (the exit status that it prints then), tick=MILLISECONDS, fill=MIB (memory with random content, from 16 MiB up),
 * spin=1 (use a whole CPU). The ACPI power button powers it off too. What is
 * typed on the second serial port it shows there again. To a virtio balloon it
 * reports all of its memory but the filled part as available.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

enum {
	COM1 = 0x3f8, COM2 = 0x2f8,
	PIC1 = 0x20, PIC2 = 0xa0,
	PIT = 0x40, HERTZ = 20, /* each tick wakes QEMU */
	PM_STATUS = 0x600, PM_ENABLE = 0x602, PM_CONTROL = 0x604, /* PIIX4 under SeaBIOS */
	POWER_BUTTON = 0x100, SLEEP_S5 = 0x2000,
	TIMER_VECTOR = 32, VECTORS = 48,
	CODE = 8, DATA = 16, /* segment selectors */
};

#define FILL_BASE ((u32 *)(16u << 20))

static void out8(u16 port, u8 v) { __asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port)); }
static void out16(u16 port, u16 v) { __asm__ volatile("outw %0, %1" ::"a"(v), "Nd"(port)); }
static void out32(u16 port, u32 v) { __asm__ volatile("outl %0, %1" ::"a"(v), "Nd"(port)); }
static u32 in32(u16 port) { u32 v; __asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port)); return v; }
static u8 in8(u16 port) { u8 v; __asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port)); return v; }
static u16 in16(u16 port) { u16 v; __asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port)); return v; }

/* Serial port. */

static void put(char c)
{
	while (!(in8(COM1 + 5) & 0x20))
		;
	out8(COM1, c);
}

static void text(const char *s) { while (*s) put(*s++); }

static void decimal(u32 n)
{
	char digits[10];
	int len = 0;
	do
		digits[len++] = '0' + n % 10;
	while (n /= 10);
	while (len)
		put(digits[--len]);
}

static void hex(u32 n)
{
	for (int shift = 28; shift >= 0; shift -= 4)
		put("0123456789abcdef"[n >> shift & 15]);
}

static void serial_init(u16 com)
{
	out8(com + 1, 0);    /* no interrupts */
	out8(com + 3, 0x80); /* divisor 1 */
	out8(com, 1);
	out8(com + 1, 0);
	out8(com + 3, 3); /* 8n1 */
	out8(com + 2, 0xc7);
}

/* What was typed since the last timer tick; a port that is not there has all bits set. */
static void echo(void)
{
	for (int most = 16; most && in8(COM2 + 5) != 0xff && (in8(COM2 + 5) & 0x21) == 0x21; most--)
		out8(COM2, in8(COM2));
}

/*
 * Memory statistics of a virtio balloon (virtio 1.0, 5.5.6.3), by its legacy interface: the device
 * returns the buffer whenever it wants new ones. Nothing is inflated.
 */

enum {
	PCI_ADDRESS = 0xcf8, PCI_DATA = 0xcfc, BALLOON = 0x10021af4,
	DEVICE_FEATURES = 0, GUEST_FEATURES = 4, QUEUE_PAGE = 8, QUEUE_SIZE = 12, QUEUE_SELECT = 14, QUEUE_NOTIFY = 16, STATUS = 18,
	STATS_QUEUE = 2, STATS_FEATURE = 1 << 1, RING = 128,
	FREE = 4, TOTAL = 5, AVAILABLE = 6,
};

struct stat { u16 tag; u64 bytes; } __attribute__((packed));

static struct {
	struct { u64 at; u32 length; u16 flags, next; } buffers[RING];
	struct { u16 flags, index, ring[RING]; } offered;
	u8 gap[4096 - 16 * RING - 4 - 2 * RING];
	volatile struct { u16 flags, index; } returned;
	u8 rest[4092];
} ring __attribute__((aligned(4096)));

static struct stat stats[3];
static u16 balloon, returned; /* its port; 0 without a balloon */

static u32 pci_read(u32 device, u32 field)
{
	out32(PCI_ADDRESS, 0x80000000u | device << 11 | field);
	return in32(PCI_DATA);
}

static void balloon_offer(void)
{
	ring.offered.ring[ring.offered.index % RING] = 0;
	__asm__ volatile("" ::: "memory");
	ring.offered.index++;
	__asm__ volatile("" ::: "memory");
	out16(balloon + QUEUE_NOTIFY, STATS_QUEUE);
}

static void balloon_init(u64 total, u64 filled)
{
	u32 device = 0;
	while (device < 32 && pci_read(device, 0) != BALLOON)
		device++;
	if (device == 32)
		return;
	u16 port = pci_read(device, 0x10) & 0xfffc;
	u32 command = pci_read(device, 4);
	out32(PCI_DATA, command | 7); /* ports, memory, bus master */
	out8(port + STATUS, 0);
	out8(port + STATUS, 3);
	out16(port + QUEUE_SELECT, STATS_QUEUE);
	if (!(in32(port + DEVICE_FEATURES) & STATS_FEATURE) || in16(port + QUEUE_SIZE) != RING)
		return;
	out32(port + GUEST_FEATURES, STATS_FEATURE);
	out32(port + QUEUE_PAGE, (u32)&ring >> 12);
	stats[0] = (struct stat){FREE, total - filled};
	stats[1] = (struct stat){TOTAL, total};
	stats[2] = (struct stat){AVAILABLE, total - filled};
	ring.buffers[0].at = (u32)stats;
	ring.buffers[0].length = sizeof stats;
	out8(port + STATUS, 7);
	balloon = port;
	balloon_offer();
}

static void balloon_poll(void)
{
	if (balloon && ring.returned.index != returned) {
		returned = ring.returned.index;
		balloon_offer();
	}
}

/* Interrupts: a timer at 20 Hz, everything else acknowledged and ignored. */

struct gate { u16 low, selector; u8 zero, type; u16 high; } __attribute__((packed));
struct table { u16 limit; u32 base; } __attribute__((packed));

static unsigned long long segments[3] = {0, 0x00cf9a000000ffffull, 0x00cf92000000ffffull};
static struct gate gates[VECTORS];
static volatile u32 jiffies;

void on_timer(void)
{
	jiffies++;
	echo();
	balloon_poll();
	out8(PIC1, 0x20);
}

extern void timer_entry(void), other_entry(void);
__asm__("timer_entry: pusha\n call on_timer\n popa\n iret\n"
	"other_entry: push %eax\n mov $0x20, %al\n out %al, $0x20\n out %al, $0xa0\n pop %eax\n iret\n");

static void interrupts_init(void)
{
	struct table gdt = {sizeof segments - 1, (u32)segments};
	struct table idt = {sizeof gates - 1, (u32)gates};
	__asm__ volatile("lgdt %0\n ljmp %1, $1f\n 1: mov %2, %%eax\n mov %%ax, %%ds\n mov %%ax, %%es\n mov %%ax, %%ss\n"
			 ::"m"(gdt), "i"(CODE), "i"(DATA) : "eax");
	for (int i = 0; i < VECTORS; i++) {
		u32 entry = i == TIMER_VECTOR ? (u32)timer_entry : (u32)other_entry;
		gates[i] = (struct gate){entry, CODE, 0, 0x8e, entry >> 16};
	}
	__asm__ volatile("lidt %0" ::"m"(idt));
	static const u8 setup[][2] = {
		{PIC1, 0x11}, {PIC2, 0x11}, {PIC1 + 1, TIMER_VECTOR}, {PIC2 + 1, TIMER_VECTOR + 8},
		{PIC1 + 1, 4}, {PIC2 + 1, 2}, {PIC1 + 1, 1}, {PIC2 + 1, 1},
		{PIC1 + 1, 0xfe}, {PIC2 + 1, 0xff}, /* only the timer */
	};
	for (u32 i = 0; i < sizeof setup / 2; i++)
		out8(setup[i][0], setup[i][1]);
	u16 divisor = 1193182 / HERTZ;
	out8(PIT + 3, 0x34);
	out8(PIT, divisor & 255);
	out8(PIT, divisor >> 8);
}

/* Words of the command line. */

struct settings { char name[32]; u32 run, exit, tick, fill, spin; };

static const char *after(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return 0;
	return s;
}

static u32 number(const char *s)
{
	u32 n = 0;
	while (*s >= '0' && *s <= '9')
		n = 10 * n + *s++ - '0';
	return n;
}

static void parse(struct settings *set, const char *s)
{
	for (; *s; s++) {
		const char *v;
		if ((v = after(s, "name="))) {
			u32 i = 0;
			while (*v > ' ' && i < sizeof set->name - 1)
				set->name[i++] = *v++;
			set->name[i] = 0;
		} else if ((v = after(s, "run=")))
			set->run = number(v);
		else if ((v = after(s, "exit=")))
			set->exit = number(v);
		else if ((v = after(s, "tick=")))
			set->tick = number(v);
		else if ((v = after(s, "fill=")))
			set->fill = number(v);
		else if ((v = after(s, "spin=")))
			set->spin = number(v);
		while (s[1] && *s != ' ')
			s++;
	}
}

static void power_off(const char *why, const char *name)
{
	text(why);
	put(' ');
	text(name);
	text("\r\n");
	for (;;) {
		out16(PM_CONTROL, SLEEP_S5);
		__asm__ volatile("hlt");
	}
}

static u32 words_to_fill(u32 mib, u32 upper_kib)
{
	u32 most = upper_kib > 15 * 1024 ? (upper_kib - 15 * 1024) << 8 : 0;
	return mib << 18 < most ? mib << 18 : most;
}

void start(u32 magic, const u32 *multiboot)
{
	struct settings set = {.name = "guest", .tick = 1000};
	u32 low, high;
	(void)magic;
	serial_init(COM1);
	serial_init(COM2);
	if (multiboot[0] & 4)
		parse(&set, (const char *)multiboot[4]);
	interrupts_init();
	out16(PM_STATUS, 0xffff);
	out16(PM_ENABLE, POWER_BUTTON);

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	u32 boot = low * 2654435761u ^ high, random = boot | 1;
	u32 words = words_to_fill(set.fill, multiboot[2]);
	for (u32 i = 0; i < words; i++) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		FILL_BASE[i] = random;
	}
	balloon_init((u64)(multiboot[2] + 1024) << 10, (u64)words << 2);

	__asm__ volatile("sti");
	u32 step = set.tick / (1000 / HERTZ) ? set.tick / (1000 / HERTZ) : 1;
	for (u32 n = 0, next = jiffies;;) {
		if ((int)(jiffies - next) >= 0) {
			u32 sum = 0;
			for (u32 i = 0; i < words; i += 1024)
				sum = sum * 31 + FILL_BASE[i];
			text("CNT ");
			text(set.name);
			put(' ');
			decimal(n);
			put(' ');
			hex(boot);
			put(' ');
			hex(sum);
			text("\r\n");
			if (set.run && n >= set.run) {
				text("vjob: exit code ");
				decimal(set.exit);
				text("\r\n");
				power_off("DONE", set.name);
			}
			n++;
			next += step;
			if ((int)(jiffies - next) >= 0) /* a host that stood still is not made up for */
				next = jiffies + 1;
		}
		if (in16(PM_STATUS) & POWER_BUTTON)
			power_off("BUTTON", set.name);
		if (!set.spin)
			__asm__ volatile("hlt");
	}
}

__asm__(".section .multiboot, \"a\"\n .align 4\n .long 0x1badb002, 3, -(0x1badb002 + 3)\n"
	".section .text\n .global _start\n _start: cli\n mov $stack_end, %esp\n push %ebx\n push %eax\n call start\n"
	".section .bss\n .align 16\n .skip 16384\n stack_end:\n .text\n");
