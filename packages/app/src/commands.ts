/** What can be done on the page that is shown. The palette lists it, and keys run it. */
import { computed, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export interface Command {
  id: string;
  title: string;
  /** Such as `mod+k`, where `mod` is Cmd on a Mac and Ctrl elsewhere, or `n`. */
  keys?: string;
  run(): void;
}

const sources = signal<readonly { list: readonly Command[] }[]>([]);

/** Those of the page that was opened last come first. */
export const commands = computed(() => [...sources.value].reverse().flatMap(({ list }) => list));

/** Offers commands while the component is shown. */
export function useCommands(list: readonly Command[]) {
  const latest = useRef(list);
  latest.current = list;
  // Titles and ids decide whether something has changed; what a command does is looked up when it runs.
  const key = JSON.stringify(list.map(({ id, title, keys }) => [id, title, keys]));
  useEffect(() => {
    const source = {
      list: list.map((command) => ({
        ...command,
        run: () => latest.current.find(({ id }) => id === command.id)?.run(),
      })),
    };
    sources.value = [...sources.peek(), source];
    return () => {
      sources.value = sources.peek().filter((other) => other !== source);
    };
  }, [key]);
}

export const isMac = /Mac|iP(?:hone|ad|od)/.test(navigator.platform);

const keysOf = (event: KeyboardEvent) =>
  [
    (isMac ? event.metaKey : event.ctrlKey) && 'mod',
    event.altKey && 'alt',
    event.shiftKey && event.key.length > 1 && 'shift',
    event.key.toLowerCase(),
  ]
    .filter(Boolean)
    .join('+');

/** How keys are written for people. */
export const shownKeys = (keys: string) =>
  keys
    .split('+')
    .map((key) => (key === 'mod' ? (isMac ? '⌘' : 'Ctrl') : key.length === 1 ? key.toUpperCase() : key))
    .join(isMac ? '' : '+');

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

export function listenForKeys() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const keys = keysOf(event);
    // Single letters are for the field that they are typed into, and dialogs have their own keys.
    if (!keys.startsWith('mod+') && (isTyping(event.target) || document.querySelector('dialog[open]')))
      return;
    const command = commands.peek().find((one) => one.keys === keys);
    if (!command) return;
    event.preventDefault();
    command.run();
  });
}
