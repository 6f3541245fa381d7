#!/usr/bin/env node
/** Runs the server that was built, or one of its commands, such as `node main.js admin-key`. */
import './node-version.js';

process.setSourceMapsEnabled(true);
await import('./dist/main.js');
