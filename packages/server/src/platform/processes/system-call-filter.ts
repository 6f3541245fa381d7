/**
 * A program for the kernel (seccomp) that refuses system calls which no fenced program needs: those by which a process gets
 * memory that its limit does not count, those that make namespaces, and a few more that would only help an attacker.
 */

const REFUSED = [
  29, // shmget
  319, // memfd_create
  447, // memfd_secret
  425, // io_uring_setup
  248, // add_key
  250, // keyctl
  298, // perf_event_open
  323, // userfaultfd
  272, // unshare
  308, // setns
];
const CLONE = 56;
const CLONE3 = 435;
const CLONE_NEWUSER = 0x10000000;

/** Each instruction has a code, a value, and the places to jump to if it holds and if not. */
type Instruction = [code: number, value: number, ifTrue?: Place, ifFalse?: Place];
type Place = 'next' | keyof typeof ENDS;

const [LOAD, JUMP_IF_EQUAL, JUMP_IF_NOT_LESS, JUMP_IF_BIT, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT] = [0, 4, 16];
const [X86_64, X32_NUMBERS] = [0xc000003e, 0x40000000];
/** The program ends with these answers, in this order: yes, EPERM, and ENOSYS. */
const ENDS = { allow: 0x7fff0000, refuse: 0x00050001, unknown: 0x00050026 };

function systemCallFilter(): Buffer {
  const instructions: Instruction[] = [
    [LOAD, ARCHITECTURE_AT],
    [JUMP_IF_EQUAL, X86_64, 'next', 'refuse'],
    [LOAD, NUMBER_AT],
    [JUMP_IF_NOT_LESS, X32_NUMBERS, 'refuse', 'next'],
    ...REFUSED.map((call): Instruction => [JUMP_IF_EQUAL, call, 'refuse', 'next']),
    // Its flags are in memory, where a filter cannot look. The C library then takes the older call.
    [JUMP_IF_EQUAL, CLONE3, 'unknown', 'next'],
    [JUMP_IF_EQUAL, CLONE, 'next', 'allow'],
    [LOAD, FIRST_ARGUMENT_AT],
    [JUMP_IF_BIT, CLONE_NEWUSER, 'refuse', 'allow'],
  ];
  const ends = Object.keys(ENDS);
  const distance = (from: number, to: Place) =>
    to === 'next' ? 0 : instructions.length + ends.indexOf(to) - from - 1;
  const all = [...instructions, ...Object.values(ENDS).map((answer): Instruction => [RETURN, answer])];
  const bytes = Buffer.alloc(8 * all.length);
  all.forEach(([code, value, ifTrue = 'next', ifFalse = 'next'], i) => {
    bytes.writeUInt16LE(code, 8 * i);
    bytes.writeUInt8(distance(i, ifTrue), 8 * i + 2);
    bytes.writeUInt8(distance(i, ifFalse), 8 * i + 3);
    bytes.writeUInt32LE(value, 8 * i + 4);
  });
  return bytes;
}

/** Undefined on other processors, whose system calls have other numbers. */
export const SYSTEM_CALL_FILTER = process.arch === 'x64' ? systemCallFilter() : undefined;
