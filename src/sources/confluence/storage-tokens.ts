import { Tokenizer } from 'htmlparser2';

/** What a body in storage format consists of, in reading order. */
interface StorageEvents {
  open(tag: string, attributes: ReadonlyMap<string, string>): void;
  close(tag: string): void;
  text(text: string): void;
  /** The text of a CDATA section: code as it is. */
  code(text: string): void;
}

/**
 * Reads XHTML of Confluence tag by tag, in linear time and without a tree. Any text is a body.
 */
export function readStorageTokens(body: string, events: StorageEvents): void {
  let tag = '';
  let attributes = new Map<string, string>();
  let attribute = '';
  let value = '';
  const ignore = () => undefined;
  const tokenizer = new Tokenizer(
    { decodeEntities: true, recognizeSelfClosing: true },
    {
      // Then `title` and `script` are elements like others: storage format has neither.
      isInForeignContext: () => true,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
      ontext: (start, end) => events.text(body.slice(start, end)),
      ontextentity: (codepoint) => events.text(String.fromCodePoint(codepoint)),
      oncdata: (start, end, offset) => events.code(body.slice(start, end - offset)),
      onopentagname: (start, end) => {
        tag = body.slice(start, end).toLowerCase();
        attributes = new Map();
      },
      onattribname: (start, end) => {
        attribute = body.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata: (start, end) => {
        value += body.slice(start, end);
      },
      onattribentity: (codepoint) => {
        value += String.fromCodePoint(codepoint);
      },
      onattribend: () => {
        attributes.set(attribute, value);
      },
      onopentagend: () => {
        events.open(tag, attributes);
        if (emptyTags.has(tag)) events.close(tag);
      },
      onselfclosingtag: () => {
        events.open(tag, attributes);
        events.close(tag);
      },
      onclosetag: (start, end) => {
        const name = body.slice(start, end).toLowerCase();
        if (!emptyTags.has(name)) events.close(name);
      },
    },
  );
  tokenizer.write(body);
  tokenizer.end();
}

/** Written without an end in HTML. */
const emptyTags = new Set(['br', 'hr', 'img', 'col']);
