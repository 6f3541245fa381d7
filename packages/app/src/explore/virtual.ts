/** A long list of which only the rows in sight are in the page. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

type List = Virtualizer<HTMLElement, HTMLElement>;

export function useVirtual(
  element: RefObject<HTMLElement | null>,
  count: number,
  size: number,
  keyOf: (index: number) => string | number,
): List {
  const [, draw] = useState(0);
  const list = useRef<List | undefined>(undefined);
  const options = {
    count,
    overscan: 12,
    getScrollElement: () => element.current,
    estimateSize: () => size,
    getItemKey: keyOf,
    observeElementOffset,
    observeElementRect,
    scrollToFn: elementScroll,
    onChange: () => draw((round) => round + 1),
  };
  list.current ??= new Virtualizer(options);
  list.current.setOptions(options);
  useLayoutEffect(() => list.current!._didMount(), []);
  useLayoutEffect(() => list.current!._willUpdate());
  return list.current;
}
