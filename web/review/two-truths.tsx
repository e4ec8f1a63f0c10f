import type { Conflict, Variant } from '../answers.ts';
import { Said } from '../parts/basics.tsx';
import { definitionText, formatNumber, numberOf } from '../parts/text.ts';

/** The numbers of the versions beside each other, each as long as it is large. */
export function TwoTruths({ conflict }: { readonly conflict: Conflict }) {
  const greatest = Math.max(0, ...conflict.variants.map((own) => Math.abs(valueOf(own) ?? 0)));
  return (
    <ol class="truths">
      {conflict.variants.map((variant, index) => (
        <li key={variant.id} class={`truth truth-${index % 4}`}>
          <Amount variant={variant} />
          {greatest === 0 ? null : <Bar share={Math.abs(valueOf(variant) ?? 0) / greatest} />}
          <code class="definition">{definitionText(variant.says)}</code>
          <p class="soft">
            <Said>{variant.evidence.join('; ')}</Said>
          </p>
        </li>
      ))}
    </ol>
  );
}

export function valueOf({ number }: Variant): number | undefined {
  return number === undefined || !('value' in number) ? undefined : numberOf(number.value);
}

/** The number of a version, or why there is none. */
export function Amount({ variant }: { readonly variant: Variant }) {
  const value = valueOf(variant);
  if (value !== undefined) return <strong class="amount">{formatNumber(value)}</strong>;
  const { number } = variant;
  if (number !== undefined && 'failure' in number && number.failure !== undefined)
    return (
      <p class="soft no-amount">
        <Said>{number.failure}</Said>
      </p>
    );
  return null;
}

/** A bar without a style attribute: the page's policy allows none in HTML. */
function Bar({ share }: { readonly share: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar-room" width="100" height="4" />
      <rect class="bar-fill" width={Math.max(1, share * 100)} height="4" />
    </svg>
  );
}

/** How far the first two versions are apart, in words. */
export function differenceText({ variants }: Conflict): string | undefined {
  const [first, second] = variants.map(valueOf);
  if (first === undefined || second === undefined) return undefined;
  const difference = Math.abs(first - second);
  const greatest = Math.max(Math.abs(first), Math.abs(second));
  if (difference === 0) return 'the numbers are equal';
  const share = greatest === 0 ? '' : ` (${((difference / greatest) * 100).toFixed(1)} %)`;
  return `${formatNumber(difference)} apart${share}`;
}
