import { isUtf8 } from 'node:buffer';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  ProtocolErrorCode,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord, parseJson } from '../../lib/json.ts';
import { isMessageId, type MessageId } from './message-scanner.ts';
import type { ClientLine } from './read-lines.ts';

/** Bytes. A longer message is refused. */
export const longestMessage = 10 * 1024 * 1024;
/**
 * How deeply the arrays and objects of a message may be nested. Recursive code handles this depth.
 */
export const deepestMessage = 200;
/** How many messages of a refused batch are answered one by one. */
const mostBatchAnswers = 100;

/** A JSON-RPC error. The id is null if the request cannot be told. */
export interface ErrorReply {
  readonly jsonrpc: '2.0';
  readonly id: MessageId | null;
  readonly error: { readonly code: number; readonly message: string };
}

/** A line is a message for the server, or nothing but the errors to answer it with. */
export type CheckedLine =
  | {
      readonly kind: 'request';
      readonly message: JSONRPCMessage;
      readonly id: MessageId;
      readonly bytes: number;
    }
  | {
      readonly kind: 'notification';
      readonly message: JSONRPCMessage;
      /** The request that it cancels. */
      readonly cancelledId: MessageId | undefined;
    }
  | { readonly kind: 'refused'; readonly errors: readonly ErrorReply[] };

const ignored: CheckedLine = { kind: 'refused', errors: [] };
const byteOrderMark = '\uFEFF';

/**
 * Reads a line as a message. The SDK's own reader drops what is broken, and ends with what is too
 * long.
 */
export function checkLine({ bytes, scanner }: ClientLine): CheckedLine {
  const refuse = (code: number, message: string): CheckedLine => ({
    kind: 'refused',
    errors: [errorReply(scanner.id ?? null, code, message)],
  });
  if (bytes === undefined)
    return refuse(
      ProtocolErrorCode.InvalidRequest,
      `Invalid request: the message is longer than ${longestMessage} bytes.`,
    );
  if (scanner.deepest > deepestMessage)
    return refuse(
      ProtocolErrorCode.InvalidRequest,
      `Invalid request: the message is nested more than ${deepestMessage} levels deep.`,
    );
  if (!isUtf8(bytes))
    return refuse(ProtocolErrorCode.ParseError, 'Parse error: the message is not valid UTF-8.');
  const text = bytes.toString().replace(byteOrderMark, '').trim();
  if (text === '') return ignored;
  const message = parseJson(text);
  if (message === undefined)
    return refuse(
      ProtocolErrorCode.ParseError,
      'Parse error: the line is not JSON. Send one JSON-RPC message per line.',
    );
  return Array.isArray(message) ? refuseBatch(message) : checkMessage(message, bytes.length);
}

function checkMessage(message: unknown, bytes: number): CheckedLine {
  if (isJSONRPCRequest(message)) return { kind: 'request', message, id: message.id, bytes };
  if (isJSONRPCNotification(message))
    return { kind: 'notification', message, cancelledId: cancelledRequest(message) };
  // The SDK drops an answer to what nobody asked.
  if (isJSONRPCResponse(message)) return { kind: 'notification', message, cancelledId: undefined };
  // Never answer an answer with an error: two programs that do would go on forever.
  if (isRecord(message) && ('result' in message || 'error' in message)) return ignored;
  const id = isRecord(message) && isMessageId(message['id']) ? message['id'] : null;
  const text =
    'Invalid request: a message is an object with jsonrpc "2.0", a method, an id that is a string or an integer, and params that are an object.';
  return { kind: 'refused', errors: [errorReply(id, ProtocolErrorCode.InvalidRequest, text)] };
}

/** The protocol has had no batches since 2025-06-18. Each request of one is refused by its id. */
function refuseBatch(messages: readonly unknown[]): CheckedLine {
  const ids = messages
    .slice(0, mostBatchAnswers)
    .map((message) => (isRecord(message) ? message['id'] : undefined))
    .filter(isMessageId);
  const text = 'Invalid request: ktx takes no batches. Send one JSON-RPC message per line.';
  const errors = (ids.length === 0 ? [null] : ids).map((id) =>
    errorReply(id, ProtocolErrorCode.InvalidRequest, text),
  );
  return { kind: 'refused', errors };
}

function cancelledRequest({
  method,
  params,
}: {
  readonly method: string;
  readonly params?: unknown;
}): MessageId | undefined {
  if (method !== 'notifications/cancelled' || !isRecord(params)) return undefined;
  const id = params['requestId'];
  return isMessageId(id) ? id : undefined;
}

export function errorReply(id: MessageId | null, code: number, message: string): ErrorReply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

const internalError: number = ProtocolErrorCode.InternalError;
const issuesSchema = z.array(z.looseObject({ path: z.array(z.unknown()), message: z.string() }));

/** What zod found wrong, which the SDK sends as JSON: in words, and as the fault of the client. */
export function inPlainWords(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { code, message: text, ...rest } = message.error;
  const issues = issuesSchema.safeParse(parseJson(text.slice(text.indexOf('[')))).data;
  if (issues === undefined) return message;
  const words = issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  const shown = code === internalError ? ProtocolErrorCode.InvalidParams : code;
  return { ...message, error: { ...rest, code: shown, message: `Invalid request: ${words}.` } };
}
