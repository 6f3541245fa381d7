import { expect, test } from 'vitest';
import { requireCompiledExpressions, requireSourceExpressions } from './expression-rules.ts';
import { requirePlainSpec, requireVega, requireVegaLite } from './spec-rules.ts';

const signal = (given: object) => ({ signals: [{ name: 'a', ...given }] });
const heard = (events: unknown) => signal({ on: [{ events, update: 'null' }] });

test.each<[string, object, string]>([
  ['an input', signal({ bind: { input: 'text' } }), 'signals[0].bind'],
  ['a signal for the pointer', { signals: [{ name: 'cursor' }] }, 'signals[0].name'],
  ['a pointer by code', { marks: [{ encode: { enter: { cursor: { signal: '1' } } } }] }, 'cursor'],
  ['keys', heard({ source: 'window', type: 'keydown' }), 'events'],
  ['keys by a selector', heard('window:keydown'), 'events'],
  ['keys in a list', heard([{ source: 'view', type: 'click' }, 'keydown']), 'events'],
  ['events of the document', heard({ source: 'document', type: 'pointermove' }), 'events'],
  ['events of an element', heard({ source: '#a', type: 'click' }), 'events'],
  ['events without a source', heard({ type: 'keydown' }), 'events'],
  ['keys between', heard({ source: 'view', type: 'click', between: ['keydown', 'keyup'] }), 'events'],
  ['keys in a merge', heard({ merge: [{ source: 'window', type: 'keydown' }] }), 'events'],
  ['pictures', { marks: [{ type: 'image' }] }, 'marks[0].type'],
  ['places on a map', { projections: [{ name: 'p', type: 'mercator' }] }, 'projections'],
  ['an address', signal({ value: 'url(//a.example)' }), 'signals[0].value'],
  ['the page of an event', signal({ on: [{ update: 'event.target' }] }), 'update'],
  ['a whole event', signal({ update: '[event]' }), 'update'],
  ['an event by a computed name', signal({ update: "event['item']" }), 'update'],
  ['the view', signal({ init: 'view()' }), 'init'],
  ['new rows of other data', signal({ init: "setdata('rows', [])" }), 'init'],
  ['a constructor', signal({ update: 'datum.constructor' }), 'update'],
  ['a constructor by a text', signal({ update: "datum['constructor']" }), 'update'],
  ['what objects share', signal({ update: 'a.__proto__' }), 'update'],
  ['a path to what objects share', { data: [{ transform: [{ field: 'a.constructor.name' }] }] }, 'field'],
  ['a field that all objects have', signal({ value: [{ field: '__proto__' }] }), 'field'],
  ['what Vega takes for code', { data: [{ transform: [{ value: { $expr: {} } }] }] }, 'value.$expr'],
  ['a key that all objects have', JSON.parse('{"signals":[{"__proto__":1}]}'), '__proto__'],
])('compiled charts are refused with %s', (_name, spec, path) => {
  const check = () => {
    requireVega(spec);
    requireCompiledExpressions(spec);
  };
  expect(check).toThrow(expect.objectContaining({ path: expect.stringContaining(path) }));
});

const calculated = (calculate: string) => ({ transform: [{ calculate, as: 'b' }] });

test.each([
  ...['datum.constructor', "{ a: 1 }['prototype']", "'a'.__proto__", 'valueOf', 'event.item', '(datum.a)(1)'],
  ...[
    "modify('rows', null)",
    "vlSelectionResolve('a')",
    'intersect([[0, 0], [9, 9]])',
    'screen()',
    '_view()',
  ],
  ...['inScope(1)', "copy('x')", "encode(1, 'a')", 'warn(1)', 'windowSize()'],
])('authors cannot write %s', (expression) => {
  const path = expect.stringContaining('transform[0].calculate');
  expect(() => requireSourceExpressions(calculated(expression))).toThrow(expect.objectContaining({ path }));
});

test('authors can read rows and scales, also of members called constructor', () => {
  for (const expression of [
    "datum['races.constructor'] + datum.races_constructor",
    "if(isValid(datum.a), format(datum.a, '.1f'), 'none')",
    "toDate(datum['a.b']) > now() && width * PI > 3",
    "({ 'a': 1, \"b\": 2 })[datum.a] || indexof(['x'], datum.a)",
    "scale('x', datum.a) + bandwidth('x')",
    "replace(datum.a, /^x+/g, '') + test(/y/, datum.a)",
  ])
    requireSourceExpressions(calculated(expression));
  requireSourceExpressions({ encoding: { x: { field: 'races\\.constructor', title: 'constructor' } } });
});

test('titles may begin like addresses', () => {
  requireVegaLite({
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    mark: 'bar',
    title: 'Data: all',
    encoding: { x: { field: 'a', title: 'JavaScript: uses' } },
  });
  requirePlainSpec({ columns: [{ member: 'a.b', title: 'Data: all' }] });
});
