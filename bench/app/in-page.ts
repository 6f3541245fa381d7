/** What runs in the pages that are measured. */
import type { Page } from 'playwright-core';

/** Notes when the first element of a selector was painted, in milliseconds after the navigation. */
export const noteWhenThere = (selector: string) => `(() => {
  const look = () => {
    if (!document.querySelector(${JSON.stringify(selector)})) return;
    watching.disconnect();
    requestAnimationFrame(() => { window.doneMs ??= performance.now(); });
  };
  const watching = new MutationObserver(look);
  watching.observe(document, { childList: true, subtree: true, attributes: true });
})()`;

/** Frames a second while something happens. */
export async function framesDuring(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(`(() => {
    const counting = { frames: 0, from: performance.now(), isOn: true };
    window.counting = counting;
    const next = () => {
      if (!counting.isOn) return;
      counting.frames++;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })()`);
  await act();
  return Number(
    await page.evaluate(`(() => {
      counting.isOn = false;
      return (counting.frames * 1000) / (performance.now() - counting.from);
    })()`),
  );
}

/**
 * From the last letter, or from the last byte of a reply of the server if `reply` is part of its address, to the frame that
 * shows other results in the list.
 */
export const noteAnswers = (list: string, reply?: string) => `(() => {
  window.answers = [];
  let typedAt = 0;
  document.addEventListener('input', () => { typedAt = performance.now(); }, true);
  new MutationObserver(() => {
    const list = document.querySelector(${JSON.stringify(list)});
    if (!list || !typedAt) return;
    const entries = ${reply ? `performance.getEntriesByType('resource').filter(({ name, responseEnd }) => name.includes(${JSON.stringify(reply)}) && responseEnd > typedAt)` : '[]'};
    const from = ${reply ? 'entries.at(-1)?.responseEnd' : 'typedAt'};
    if (!from) return;
    typedAt = 0;
    requestAnimationFrame(() => { answers.push(performance.now() - from); });
  }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
})()`;
