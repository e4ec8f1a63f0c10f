import { StringDecoder } from 'node:string_decoder';
import { Transform } from 'node:stream';

/**
 * What a terminal sends, with pasted lines as one word: the line editor behind it shows
 * `[paste 1: 30 lines]` and sends nothing until Enter is pressed.
 */
export interface PasteFilter {
  readonly stream: Transform;
  /** The text with every paste in place of its word. */
  expand(line: string): string;
}

/** Terminals put these around what is pasted, once they are asked to. */
const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';

/**
 * Lines that arrive within this time of each other were not typed: a terminal without marks around
 * a paste sends them like keys.
 */
const burstMs = 25;

/** Alt-Enter, for a new line in the message: the same as a backslash and Enter. */
const altEnter = '\u001b\r';

export function openPasteFilter(): PasteFilter {
  const words = openPasteWords();
  const decoder = new StringDecoder('utf8');
  let [held, pasted] = ['', ''];
  let isPaste = false;
  const takeChunk = (chunk: string): void => {
    let rest = held + chunk;
    held = '';
    while (rest !== '') {
      const mark = isPaste ? pasteEnd : pasteStart;
      const at = rest.indexOf(mark);
      const keep = at < 0 ? partialMark(rest, mark) : 0;
      const text = rest.slice(0, at < 0 ? rest.length - keep : at);
      if (isPaste) pasted += text;
      else keys.take(text);
      if (at < 0) {
        held = rest.slice(rest.length - keep);
        return;
      }
      if (isPaste) stream.push(words.wordFor(pasted));
      else keys.endBurst();
      pasted = '';
      isPaste = !isPaste;
      rest = rest.slice(at + mark.length);
    }
  };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      takeChunk(decoder.write(chunk));
      done();
    },
    flush(done) {
      keys.endBurst();
      // A paste that is cut off is not lost.
      if (isPaste) stream.push(words.wordFor(pasted + held));
      done();
    },
  });
  const keys = openKeys((text) => void stream.push(text), words);
  return { stream, expand: (line) => words.expand(line) };
}

/** The words that stand for pastes of several lines. */
function openPasteWords() {
  const pastes = new Map<string, string>();
  return {
    wordFor(text: string): string {
      const body = cleanPaste(text);
      if (!body.includes('\n')) return body;
      const word = `[paste ${pastes.size + 1}: ${body.split('\n').length} lines]`;
      pastes.set(word, body);
      return word;
    },
    expand: (line: string): string =>
      line.replaceAll(/\[paste \d+: \d+ lines\]/g, (word) => pastes.get(word) ?? word),
  };
}

/** What arrives without marks: keys, or lines so fast that they are a paste. */
function openKeys(push: (text: string) => void, words: ReturnType<typeof openPasteWords>) {
  let burst = '';
  let timer: NodeJS.Timeout | undefined;
  const endBurst = (): void => {
    clearTimeout(timer);
    const text = burst;
    burst = '';
    if (text !== '') push(isPastedText(text) ? `${words.wordFor(text)}${lastEnter(text)}` : text);
  };
  const take = (keys: string): void => {
    if (keys === '') return;
    const text = keys.replaceAll(altEnter, '\\\r');
    const isBurst = burst !== '' || /[\r\n]/.test(text);
    if (isBurst) burst += text;
    else push(text);
    // Ctrl-C and other keys that are no text do not wait.
    if (hasControlKey(burst)) return endBurst();
    clearTimeout(timer);
    if (isBurst) timer = setTimeout(endBurst, burstMs);
  };
  return { take, endBurst };
}

/** The characters at the end that may be the start of the mark; one alone is the Escape key. */
function partialMark(text: string, mark: string): number {
  const lengths = Array.from({ length: mark.length - 2 }, (_, index) => mark.length - 1 - index);
  return lengths.find((length) => text.endsWith(mark.slice(0, length))) ?? 0;
}

/** Several lines, and nothing that is no text. One line with Enter behind it was typed. */
function isPastedText(text: string): boolean {
  return !hasControlKey(text) && /[\r\n]/.test(text.replace(/(?:\r\n|\r|\n)$/, ''));
}

function lastEnter(text: string): string {
  return /[\r\n]$/.test(text) ? '\r' : '';
}

function hasControlKey(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text);
}

/** Ends of lines as `\n`, none at the end, and no control characters: they would be keys. */
function cleanPaste(text: string): string {
  return (
    text
      .replaceAll(/\r\n?/g, '\n')
      .replace(/\n+$/, '')
      // oxlint-disable-next-line no-control-regex -- control characters are what this removes
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
  );
}
