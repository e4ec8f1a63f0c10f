import { useEffect, useState } from 'preact/hooks';

/** Where the page is: `#/metric/shop/orders.revenue?tab=x`. Works on any host of files. */
export interface Place {
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  return { parts: parts.map(decode), query: new URLSearchParams(query) };
}

export function linkTo(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

/** The page about a subject: `metric:shop.orders.revenue`. */
export function linkToSubject(subject: string): string {
  return linkTo('about', subject);
}

export function go(link: string): void {
  location.hash = link;
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return placeOf(hash);
}

/** Text that is not encoded well stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
