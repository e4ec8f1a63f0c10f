import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { parseJson } from '../../lib/json.ts';
import { deepestMessage, errorReply, type ErrorReply } from '../stdio/check-line.ts';
import { MessageScanner } from '../stdio/message-scanner.ts';
import { readBody } from './exchange.ts';

/** Bytes. A longer message is refused. */
const longestBody = 1024 * 1024;

/** Methods that a `Request` cannot have. */
const unforwardable: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/** Without a body the message is undefined. */
type ReadMessage =
  | { readonly kind: 'message'; readonly message: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly reply: ErrorReply };

/** Reads the message of a POST, as far as it is no danger to read. The SDK checks the rest. */
export async function readMessage(request: IncomingMessage): Promise<ReadMessage> {
  const { method = '' } = request;
  if (unforwardable.has(method)) return refuse(405, `Invalid request: MCP has no ${method}.`);
  if (method !== 'POST') return { kind: 'message', message: undefined };
  const bytes = await readBody(request, longestBody);
  if (bytes === undefined)
    return refuse(413, `Invalid request: the body is longer than ${longestBody} bytes.`);
  const scanner = new MessageScanner();
  scanner.read(bytes);
  if (scanner.deepest > deepestMessage)
    return refuse(400, `Invalid request: it is nested more than ${deepestMessage} levels deep.`);
  const message = isUtf8(bytes) ? parseJson(bytes.toString()) : undefined;
  if (message === undefined) {
    const text = 'Parse error: the body is not JSON.';
    return { ...refuse(400, text), reply: errorReply(null, ProtocolErrorCode.ParseError, text) };
  }
  if (Array.isArray(message))
    return refuse(400, 'Invalid request: ktx takes no batches. Send one message per request.');
  return { kind: 'message', message };
}

function refuse(status: number, text: string): Extract<ReadMessage, { kind: 'refused' }> {
  const reply = errorReply(null, ProtocolErrorCode.InvalidRequest, text);
  return { kind: 'refused', status, reply };
}
