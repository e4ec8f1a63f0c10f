import { isLoopback } from '../../../http/private-address.ts';
import { sendOnce } from '../../../http/send-once.ts';
import { maxResultSize } from '../../result-size.ts';
import { warehouseError } from '../../warehouse-error.ts';

/**
 * Reads a part of a result from the storage of the workspace. The link itself is the permission:
 * no login is sent, and no error quotes the link.
 */
export async function readLink(link: string, signal: AbortSignal): Promise<string> {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && !isLoopback(url.hostname)))
    throw new Error('it sent a link that is not encrypted');
  const { status, text } = await sendOnce({
    method: 'GET',
    url,
    headers: { 'accept-encoding': 'gzip' },
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
  if (status === 200) return text;
  throw warehouseError(
    'warehouse_unreachable',
    `The storage of the result, ${url.host}, answers ${status}.`,
    { retryable: true },
  );
}
