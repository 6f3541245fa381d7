/** Runs a program that npm installs, after installing it if necessary: `node scripts/with-install.mjs vitest …`. */
import { bin, install, run } from './install.mjs';

install();
const [program, ...args] = process.argv.slice(2);
run(bin(program), args);
