import { isLoopback } from '../../../http/private-address.ts';
import { proxyRoute } from '../../../http/proxy.ts';
import { sendOnce } from '../../../http/send-once.ts';
import { maxResultSize } from '../../result-size.ts';
import { readableText } from '../../rest/readable-text.ts';
import { warehouseError } from '../../warehouse-error.ts';

/**
 * Reads a part of a result from the storage of the workspace. The link itself is the permission:
 * no login is sent, and no error quotes the link.
 */
export async function readLink(
  link: string,
  workspace: string,
  signal: AbortSignal,
): Promise<string> {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  // Only a workspace on this machine may send ktx to other servers of this machine.
  const isLocal = url !== undefined && isLoopback(url.hostname);
  if (url === undefined || (isLocal ? !isLoopback(new URL(workspace).hostname) : !isSafe(url)))
    throw new Error('it sent a link that is not encrypted, or leads to this machine');
  const { status, text } = await sendOnce({
    method: 'GET',
    url,
    headers: { 'accept-encoding': 'gzip' },
    agent: proxyRoute(url)?.agent,
    maxBytes: 2 * maxResultSize,
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it failed';
    throw warehouseError(
      'warehouse_unreachable',
      `The storage of the result, ${url.host}, cannot be reached: ${reason}`,
    );
  });
  if (status === 200) return readableText(text, {});
  throw warehouseError(
    'warehouse_unreachable',
    `The storage of the result, ${url.host}, answers ${status}.`,
    { retryable: true },
  );
}

/** No server of the machine or of its cloud gives rows there: `169.254.169.254` has its logins. */
function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && !/^(?:169\.254\.|0\.|\[(?:fe[89ab]|::))/i.test(hostname);
}
