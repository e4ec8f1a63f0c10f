import { errorMessage, UserError } from '../../lib/error.ts';

/** In bytes. A longer document of a provider is refused. */
const largestDocument = 512 * 1024;
/** In milliseconds. */
const longestFetch = 5_000;

/** What is sent to a provider, beside the address. */
interface DocumentRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestInit['body'];
}

/** Asks an OpenID provider: no redirects, no endless or slow answers. */
export async function fetchDocument(
  url: string,
  { method = 'GET', headers = {}, body }: DocumentRequest = {},
): Promise<Response> {
  const response = await fetch(url, {
    method,
    redirect: 'error',
    headers: { accept: 'application/json', ...headers },
    body,
    signal: AbortSignal.timeout(longestFetch),
  }).catch((error: unknown) => {
    throw unreachable(url, errorMessage(error));
  });
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    length += piece.length;
    if (length > largestDocument)
      throw unreachable(url, `it has more than ${largestDocument} bytes`);
  }
  const type = response.headers.get('content-type');
  return new Response(response.body === null ? null : Buffer.concat(pieces), {
    status: response.status,
    headers: type === null ? {} : { 'content-type': type },
  });
}

/** A fault of the provider or of the way to it, not of the token. */
export function unreachable(url: string, reason: string): UserError {
  return new UserError('issuer_unreachable', `${url} gives no usable answer: ${reason}.`, {
    hint: 'Check serve.auth.issuer in ktx.yaml, and that this machine can reach it.',
    retryable: true,
  });
}
