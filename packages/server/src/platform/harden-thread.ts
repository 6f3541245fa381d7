/**
 * Hardens threads that evaluate what users wrote: no constructor makes code from a text any more, and prototypes take
 * no new properties. The rules for charts and the guards of their expressions come first; a hole in them should not
 * reach the server, nor the charts of other users in the same thread. Call it when all modules are loaded.
 */
const NOTHING = [() => {}, async () => {}, function* () {}, async function* () {}];

export function hardenThread() {
  const refuse = () => {
    throw new EvalError('No text becomes code in this thread.');
  };
  for (const each of NOTHING)
    Object.defineProperty(Object.getPrototypeOf(each), 'constructor', { value: refuse });
  // They are not frozen: then no object could have an own `toString`, such as formats of D3 have.
  for (const { prototype } of [Object, Function, Array, String, Number, Boolean, Date, RegExp, Map, Set])
    Object.preventExtensions(prototype);
}
