/** What can be scrolled fades out where it goes on. */
import { useEffect } from 'preact/hooks';

export function useScrollHint(frame: { current: HTMLElement | null }) {
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const look = () => {
      const { scrollLeft, scrollTop, scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
      // Right-to-left, the distance is negative.
      const across = Math.abs(scrollLeft);
      element.classList.toggle('more-before', across > 1);
      element.classList.toggle('more-after', scrollWidth - clientWidth - across > 1);
      element.classList.toggle('more-below', scrollHeight - clientHeight - scrollTop > 1);
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    for (const each of [element, ...element.children]) observer.observe(each);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  });
}
