/** The part of curl that the pages use, so that their examples also run on a machine without curl. */
const words = process.argv.slice(2);
const headers = new Headers();
let method;
let body;
let url = '';
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (word === '-H') {
    const [name, value] = words.shift().split(/: (.*)/s);
    headers.set(name, value);
  } else if (word === '-X') method = words.shift();
  else if (word === '-d') body = words.shift();
  else if (word !== '-s' && word.startsWith('-')) throw new Error(`no such option here: ${word}`);
  else if (word !== '-s') url = word;
}
const response = await fetch(url, { method: method ?? (body ? 'POST' : 'GET'), headers, body });
process.stdout.write(await response.text());
