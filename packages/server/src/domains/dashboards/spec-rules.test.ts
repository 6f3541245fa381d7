import { expect, test } from 'vitest';
import { requireCompiledExpressions } from './expression-rules.ts';
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
  ['an address', signal({ value: 'url(//a.example)' }), 'signals[0].value'],
  ['the page of an event', signal({ on: [{ update: 'event.target' }] }), 'update'],
  ['a whole event', signal({ update: '[event]' }), 'update'],
  ['an event by a computed name', signal({ update: "event['item']" }), 'update'],
  ['the view', signal({ init: 'view()' }), 'init'],
])('compiled charts are refused with %s', (_name, spec, path) => {
  const check = () => {
    requireVega(spec);
    requireCompiledExpressions(spec);
  };
  expect(check).toThrow(expect.objectContaining({ path: expect.stringContaining(path) }));
});

test('titles may begin like addresses', () => {
  requireVegaLite({
    mark: 'bar',
    title: 'Data: all',
    encoding: { x: { field: 'a', title: 'JavaScript: uses' } },
  });
  requirePlainSpec({ columns: [{ member: 'a.b', title: 'Data: all' }] });
});
