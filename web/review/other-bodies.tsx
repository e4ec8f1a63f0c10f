import type { Explained, Waiting } from '../answers.ts';
import { useData } from '../data.ts';
import { Said } from '../parts/basics.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { definitionText, nameSubject, valueText } from '../parts/text.ts';

/** A join in doubt: its columns, why it is in doubt, what was measured. */
export function JoinBody({ join }: { readonly join: Waiting['joins'][number] }) {
  const { data } = useData<Explained>('explain', { subject: join.subject });
  const { dataset } = nameSubject(join.subject);
  const explanation = data?.explanations.find(({ subject }) => subject === join.subject);
  return (
    <>
      <pre class="definition">
        <Said>
          {Object.entries(join.on)
            .map(([own, target]) => `${dataset}.${own} = ${join.to}.${target}`)
            .join('\n')}
        </Said>
      </pre>
      <p class="why">
        <Said>{join.why}</Said>
        <span class="soft"> Confidence {join.confidence.toFixed(1)} of 1.</span>
      </p>
      {explanation?.claims.map((claim) => (
        <Evidence key={claim.id} claim={claim} addresses={explanation.addresses} />
      ))}
    </>
  );
}

/** A metric or a time that nobody has confirmed. */
export function FactBody({ fact }: { readonly fact: Waiting['unreviewed'][number] }) {
  const where = fact.typed ?? fact.item;
  return (
    <>
      <pre class="definition">{definitionText(fact.says)}</pre>
      {fact.quote === undefined ? null : (
        <blockquote>
          <Said>{fact.quote}</Said>
        </blockquote>
      )}
      <p class="soft">
        <Said>{where ?? 'Only names of columns suggest it.'}</Said>
      </p>
    </>
  );
}

/** What an agent proposes, above what holds now. */
export function CorrectionBody({
  correction,
}: {
  readonly correction: Waiting['corrections'][number];
}) {
  const { says, now } = correction;
  return (
    <dl class="change">
      <dt>Proposed</dt>
      <dd>
        <Said>{says}</Said>
      </dd>
      <dt>Now</dt>
      <dd class="soft">
        <Said>{now === undefined ? 'nothing' : valueText(now)}</Said>
      </dd>
    </dl>
  );
}
