/** `npm start`: installs what is missing, builds, and runs the server, or one of its commands, such as `npm run admin-key`. */
import { join } from 'node:path';
import { install, root } from './install.mjs';

install();
const { build } = await import('./build.mjs');
await build();
// Stop esbuild, whose process would otherwise run as long as the server.
await (await import('esbuild')).stop();
await import(join(root, 'packages/server/main.js'));
