/** A number for each object that is not the number of any other one, also not of one that is gone. */
export function createNumbers() {
  const numbers = new WeakMap<object, number>();
  let last = 0;
  return (object: object): number => {
    let number = numbers.get(object);
    if (number === undefined) {
      number = ++last;
      numbers.set(object, number);
    }
    return number;
  };
}
