import { AnswerTooLarge } from '../../http/send-once.ts';

/** A value of JSON takes up to a hundred times its text in memory. */
const mostValues = 5_000_000;
/** In characters. A shorter word could stand in any answer. */
const shortestSecret = 8;

/**
 * The text of an answer as errors may quote it and as it can be parsed: without the login of its
 * request, which a server can repeat. Throws `AnswerTooLarge` for JSON of too many values.
 */
export function readableText(text: string, login: Readonly<Record<string, string>>): string {
  if (text.length > mostValues && countValues(text) > mostValues)
    throw new AnswerTooLarge(`more than ${mostValues} values`);
  return secretsIn(login).reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}

/** The tokens of the headers, without the word before them: `Bearer`, `Basic`. */
function secretsIn(login: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(login)
    .filter(([name]) => name === 'authorization')
    .map(([, value]) => value.replace(/^\w+ /, ''))
    .filter((secret) => secret.length >= shortestSecret);
}

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');

/** At least as many values as the JSON has, but for texts and numbers that stand alone. */
function countValues(text: string): number {
  let count = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInText && code === backslash) at += 1;
    else if (code === quote) isInText = !isInText;
    else if (!isInText && (code === comma || code === bracket || code === brace)) count += 1;
  }
  return count;
}
