import { useEffect, useRef } from 'preact/hooks';
import { go, linkTo } from '../router.ts';

/** Search from everywhere: `/` goes there. */
export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || isTyping(event)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const search = (event: Event): void => {
    event.preventDefault();
    const words = input.current?.value.trim() ?? '';
    if (words !== '') go(linkTo('search', words));
  };
  return (
    <form class="search" role="search" onSubmit={search}>
      <input
        ref={input}
        type="search"
        aria-label="Search metrics, datasets, terms, documents"
        placeholder="Search metrics, datasets, terms  /"
        autocomplete="off"
      />
    </form>
  );
}

/** True if a key belongs to what the person is writing. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  const element = target instanceof HTMLElement ? target : undefined;
  return element?.matches('input, textarea, select, [contenteditable]') === true;
}
