/** Gives each object a unique id, which is not used again after the object is gone. */
export function createObjectIds() {
  const ids = new WeakMap<object, number>();
  let last = 0;
  return (object: object): number => {
    let id = ids.get(object);
    if (id === undefined) {
      id = ++last;
      ids.set(object, id);
    }
    return id;
  };
}
