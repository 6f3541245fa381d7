/** Stops with one line if this Node is too old. It is imported before anything that an old Node could not load. */
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Oriel needs Node 20.19 or later, and this is ${process.versions.node}.`);
  process.exit(1);
}
