import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { CommandContext } from '../../command.ts';
import type { CliHost } from '../../terminal/screen.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { openPasteFilter, type PasteFilter } from './paste-filter.ts';

/**
 * Messages from a person or a pipe. One reader for messages and for questions, so that neither
 * takes the other's lines.
 */
export interface LineInput {
  /**
   * The next message; undefined at the end of the input. In a terminal a paste is one message, and
   * a line that ends with a backslash goes on in the next.
   */
  readMessage(prompt: string): Promise<string | undefined>;
  /**
   * The answer to a question: the first line that is typed after it appears. Undefined at the end
   * of the input and when the signal aborts. What was being typed is there again afterwards.
   */
  readAnswer(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Makes a text the next message: it was typed where it was no answer. */
  keep(message: string): void;
  /** Drops what is being typed, and shows the prompt again. */
  startOver(): void;
  /**
   * Calls the listener on Ctrl-C, which does not end the process while this is open in a terminal.
   */
  onInterrupt(listener: () => void): void;
  close(): void;
}

/** What waits for the next line. */
interface AwaitedLine {
  readonly kind: 'message' | 'answer';
  readonly prompt: string;
  take(line: string | undefined): void;
}

export function openLineInput(context: CommandContext): LineInput {
  return context.screen.interactive ? openTerminalInput(context) : openPipeInput(context);
}

/** Every line is a message. Nobody can be asked. */
function openPipeInput({ host }: CommandContext): LineInput {
  const reader = createInterface({ input: host.stdin, terminal: false });
  const queue = openQueue();
  reader.on('line', (line) => queue.push(line));
  reader.on('close', () => queue.end());
  return {
    readMessage: (prompt) => queue.next({ kind: 'message', prompt }),
    readAnswer: () => Promise.resolve(undefined),
    keep: (message) => queue.push(message),
    startOver: () => undefined,
    onInterrupt: (listener) => void reader.on('SIGINT', listener),
    close: () => reader.close(),
  };
}

const continuationPrompt = '» ';

function openTerminalInput({ host, screen }: CommandContext): LineInput {
  const terminal = openTerminal(host, screen.live);
  const { reader, filter } = terminal;
  const queue = openQueue();
  /** The lines of a message that goes on. */
  let begun = '';
  const showPrompt = (): void => {
    const prompt = queue.waiting()?.prompt;
    if (prompt !== undefined) terminal.prompt(begun === '' ? prompt : continuationPrompt);
  };
  reader.on('line', (line) => {
    terminal.hide();
    const isAnswer = queue.waiting()?.kind === 'answer';
    const text = filter.expand(line);
    if (!isAnswer && endsWithBackslash(line)) {
      begun += `${text.slice(0, -1)}\n`;
      return showPrompt();
    }
    const message = isAnswer ? text : begun + text;
    if (!isAnswer) begun = '';
    queue.push(message, isAnswer);
  });
  reader.on('close', () => {
    if (begun !== '') queue.push(begun.trimEnd());
    queue.end();
  });
  return {
    readMessage(prompt) {
      const next = queue.next({ kind: 'message', prompt });
      if (queue.waiting() === undefined) {
        // It was typed while the last answer ran, when nothing showed it.
        return next.then((message) => {
          if (message !== undefined) host.stdout.write(`${prompt}${firstLineOf(message)}\n`);
          return message;
        });
      }
      showPrompt();
      return next;
    },
    async readAnswer(question, signal) {
      if (signal?.aborted === true) return undefined;
      const draft = terminal.takeDraft();
      const answer = queue.next({ kind: 'answer', prompt: question }, signal);
      showPrompt();
      const line = await answer;
      terminal.hide();
      terminal.takeDraft();
      if (draft !== '') terminal.type(draft);
      return line;
    },
    keep: (message) => queue.push(message, false),
    startOver() {
      terminal.takeDraft();
      begun = '';
      showPrompt();
    },
    onInterrupt: (listener) => void reader.on('SIGINT', listener),
    close: () => terminal.close(),
  };
}

/**
 * Lines in order, and what waits for one. Answers never wait in the queue: a line that was typed
 * before a question is a message.
 */
function openQueue() {
  const lines: string[] = [];
  let isOpen = true;
  let waiting: AwaitedLine | undefined;
  const give = (line: string | undefined): void => {
    const awaited = waiting;
    waiting = undefined;
    awaited?.take(line);
  };
  return {
    waiting: () => waiting,
    /** With `isAnswer` false the line is not given to a question. */
    push(line: string, isAnswer = false): void {
      const isWanted = waiting !== undefined && (waiting.kind === 'answer') === isAnswer;
      if (isWanted) give(line);
      else lines.push(line);
    },
    next(wanted: Pick<AwaitedLine, 'kind' | 'prompt'>, signal?: AbortSignal) {
      const [first] = lines;
      if (wanted.kind === 'message' && first !== undefined) {
        lines.shift();
        return Promise.resolve(first);
      }
      if (!isOpen) return Promise.resolve(undefined);
      return new Promise<string | undefined>((resolve) => {
        waiting = { ...wanted, take: resolve };
        signal?.addEventListener('abort', () => give(undefined), { once: true });
      });
    },
    end(): void {
      isOpen = false;
      give(undefined);
    },
  };
}

interface Terminal {
  readonly reader: Interface;
  readonly filter: PasteFilter;
  /** Shows the prompt with what has been typed so far. */
  prompt(prompt: string): void;
  /** Until the next prompt, what is typed is kept but not shown: an answer is being written. */
  hide(): void;
  /** What is being typed, which is dropped. */
  takeDraft(): string;
  type(text: string): void;
  close(): void;
}

const [pasteMarksOn, pasteMarksOff] = ['\u001b[?2004h', '\u001b[?2004l'];

/** A line editor on the terminal. `hasMarks` asks the terminal for marks around pastes. */
function openTerminal({ stdin, stdout }: CliHost, hasMarks: boolean): Terminal {
  const filter = openPasteFilter();
  const setRawMode = (mode: boolean): void => {
    if ('setRawMode' in stdin && typeof stdin.setRawMode === 'function') stdin.setRawMode(mode);
  };
  const input = Object.assign(stdin.pipe(filter.stream), { isTTY: true, setRawMode });
  let isShown = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (isShown) stdout.write(chunk);
      done();
    },
  });
  Object.defineProperty(output, 'columns', { get: () => stdout.columns });
  const relayResize = (): boolean => output.emit('resize');
  stdout.on('resize', relayResize);
  const reader = createInterface({ input, output, terminal: true, historySize: 200 });
  if (hasMarks) stdout.write(pasteMarksOn);
  const hide = (): void => void (isShown = false);
  let isOpen = true;
  const takeDraft = (): string => {
    if (!isOpen) return '';
    const draft = reader.line;
    reader.write(null, { ctrl: true, name: 'e' });
    reader.write(null, { ctrl: true, name: 'u' });
    return draft;
  };
  reader.on('close', () => {
    isOpen = false;
    stdout.off('resize', relayResize);
    stdin.unpipe(filter.stream);
    stdin.pause();
    if (hasMarks) stdout.write(pasteMarksOff);
  });
  return {
    reader,
    filter,
    hide,
    takeDraft,
    type(text) {
      if (isOpen) reader.write(text);
    },
    close: () => reader.close(),
    prompt(prompt) {
      if (!isOpen) return;
      isShown = true;
      reader.setPrompt(prompt);
      // The editor believes that the cursor is where it left it; other output came between.
      Object.assign(reader, { prevRows: 0 });
      reader.prompt(true);
    },
  };
}

/** An odd number of backslashes: `\\` is one that is meant. */
function endsWithBackslash(line: string): boolean {
  return (/\\+$/.exec(line)?.[0].length ?? 0) % 2 === 1;
}

function firstLineOf(message: string): string {
  const [first = '', ...rest] = message.split('\n');
  return rest.length === 0 ? escapeControls(first) : `${escapeControls(first)} …`;
}
