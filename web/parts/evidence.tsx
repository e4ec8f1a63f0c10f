import type { Explanation } from '../answers.ts';
import { Said } from './basics.tsx';
import { safeAddress, valueText } from './text.ts';

type ShownClaim = Explanation['claims'][number];
type ShownEvidence = ShownClaim['evidence'][number];

interface EvidenceProps {
  readonly claim: ShownClaim;
  /** Of items that have one, in the tool that they come from. */
  readonly addresses: Explanation['addresses'];
}

/** Who says so: the line that was read, where it stands, what was measured. */
export function Evidence({ claim, addresses }: EvidenceProps) {
  return (
    <ul class="evidence">
      {claim.evidence.map((evidence, index) => (
        <li key={index}>
          {evidence.quote === undefined ? null : (
            <blockquote>
              <Said>{evidence.quote}</Said>
            </blockquote>
          )}
          <EvidencePlace evidence={evidence} addresses={addresses} />
          {evidence.measured === undefined ? null : <Measured value={evidence.measured} />}
        </li>
      ))}
    </ul>
  );
}

interface PlaceProps extends Pick<EvidenceProps, 'addresses'> {
  readonly evidence: ShownEvidence;
}

function EvidencePlace({ evidence, addresses }: PlaceProps) {
  const { item, location, connection, origin, owner, confidence } = evidence;
  const address = safeAddress(addresses.find((own) => own.item === item)?.address);
  const where = [item ?? connection, location].filter((part) => part !== undefined).join(', ');
  const details = [
    origins[origin] ?? origin,
    owner && `owner ${owner}`,
    `confidence ${confidence}`,
  ];
  return (
    <p class="place">
      {address === undefined ? (
        <Said>{where}</Said>
      ) : (
        <a href={address} target="_blank" rel="noreferrer">
          <Said>{where}</Said>
        </a>
      )}
      <span class="soft">
        {' '}
        <Said>{details.filter(Boolean).join(' · ')}</Said>
      </span>
    </p>
  );
}

const origins: Readonly<Record<string, string>> = {
  code: 'read by code',
  model: 'read by a model',
  person: 'written by a person',
  catalog: 'declared in the warehouse',
};

/** Figures about values, as pairs. */
function Measured({ value }: { readonly value: unknown }) {
  if (!(value instanceof Object)) return null;
  return (
    <dl class="pairs">
      {Object.entries(value).map(([key, inner]: [string, unknown]) => (
        <div key={key}>
          <dt>
            <Said>{key.replaceAll('_', ' ')}</Said>
          </dt>
          <dd>
            <Said>{valueText(inner)}</Said>
          </dd>
        </div>
      ))}
    </dl>
  );
}
