import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Narrower things have no words. */
const least = 200;

/** How many pixels wide an element is, up to `most`, which it is taken for until it is there. */
export function useWidth(element: RefObject<HTMLElement | null>, most: number): number {
  const [width, setWidth] = useState(most);
  useEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const watching = new ResizeObserver(() => {
      const { clientWidth } = current;
      // While it is folded, or its place is being made, it keeps what it had.
      if (clientWidth >= least) setWidth(Math.min(most, clientWidth));
    });
    watching.observe(current);
    return () => watching.disconnect();
  }, [most]);
  return width;
}
