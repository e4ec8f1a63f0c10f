import type { Conflict, Explained, Explanation, Variant } from '../answers.ts';
import { useData } from '../data.ts';
import { Chip, Key, Said } from '../parts/basics.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { Uses } from '../parts/uses.tsx';
import { definitionText } from '../parts/text.ts';
import { OverTime } from './over-time.tsx';
import { Amount, valueOf } from './two-truths.tsx';

interface ConflictBodyProps {
  readonly conflict: Conflict;
  readonly onChoose: ((number: number) => void) | undefined;
}

/** The versions beside each other: number, definition, the lines that say it. */
export function ConflictBody({ conflict, onChoose }: ConflictBodyProps) {
  const { data } = useData<Explained>('explain', { subject: conflict.subject });
  const explanation = data?.explanations.find(({ subject }) => subject === conflict.subject);
  const greatest = Math.max(0, ...conflict.variants.map((own) => Math.abs(valueOf(own) ?? 0)));
  return (
    <>
      <ol class="versions">
        {conflict.variants.map((variant, index) => (
          <li key={variant.id} class={`version truth-${index % 4}`}>
            <VersionHead variant={variant} greatest={greatest} isFirst={index === 0} />
            <Quotes variant={variant} kind={conflict.kind} explanation={explanation} />
            {onChoose === undefined ? null : (
              <button type="button" class="button choose" onClick={() => onChoose(index + 1)}>
                Choose this <Key>{String(index + 1)}</Key>
              </button>
            )}
          </li>
        ))}
      </ol>
      <OverTime conflict={conflict} />
      <Uses of={explanation} />
    </>
  );
}

interface VersionHeadProps {
  readonly variant: Variant;
  readonly greatest: number;
  /** True for the version that holds until somebody decides. */
  readonly isFirst: boolean;
}

function VersionHead({ variant, greatest, isFirst }: VersionHeadProps) {
  const value = valueOf(variant);
  const share = value === undefined || greatest === 0 ? 0 : Math.abs(value) / greatest;
  return (
    <div class="version-head">
      <p class="eyebrow">
        {isFirst ? <Chip>shown until decided</Chip> : <Chip>other version</Chip>}
      </p>
      <Amount variant={variant} />
      {value === undefined ? null : (
        <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-room" width="100" height="4" />
          <rect class="bar-fill" width={Math.max(1, share * 100)} height="4" />
        </svg>
      )}
      <pre class="definition">{definitionText(variant.says)}</pre>
    </div>
  );
}

interface QuotesProps {
  readonly variant: Variant;
  readonly kind: string;
  readonly explanation: Explanation | undefined;
}

/** The lines that say so; until they are there, where they stand. */
function Quotes({ variant, kind, explanation }: QuotesProps) {
  const claim = explanation?.claims.find(
    (own) => own.kind === kind && own.id.startsWith(variant.id),
  );
  if (claim === undefined || explanation === undefined)
    return (
      <ul class="evidence">
        {variant.evidence.map((place) => (
          <li key={place}>
            <Said>{place}</Said>
          </li>
        ))}
      </ul>
    );
  return <Evidence claim={claim} addresses={explanation.addresses} />;
}
