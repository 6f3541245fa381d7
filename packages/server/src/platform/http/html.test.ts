import { expect, test } from 'vitest';
import { html } from './html.ts';

test('every value is escaped, also inside lists and attributes', () => {
  const hostile = `"><script>alert('1')</script>&amp;`;
  const safe = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;';
  expect(html`<p title="${hostile}">${hostile}${[hostile, [hostile]]}</p>`.text).toBe(
    `<p title="${safe}">${safe}${safe}${safe}</p>`,
  );
});

test('markup in markup is not escaped again', () => {
  expect(html`<ul>${['a', '<b>'].map((text) => html`<li>${text}</li>`)}</ul>`.text).toBe(
    '<ul><li>a</li><li>&lt;b&gt;</li></ul>',
  );
});

test('nothing is shown for values that are not there, but zero is shown', () => {
  expect(html`${null}${undefined}${false}${0}${''}`.text).toBe('0');
});

test('an attribute without quotes is refused, because escaping would not protect it', () => {
  const value = 'a onload=alert(1)';
  expect(() => html`<p title=${value}></p>`).toThrow('an attribute without quotes');
});

test('an object that only looks like markup is not taken for markup', () => {
  const forged = JSON.parse('{"text":"<script>"}');
  expect(() => html`${forged}`.text).toThrow();
});
