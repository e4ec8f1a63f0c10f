const rose = [
  'rose|rises?|risen|grew|grows?|grown|increas(?:es?|ed)|climb(?:s|ed)|jump(?:s|ed)',
  'stieg(?:en)?|steigt|gestiegen|wuchs(?:en)?|wächst|gewachsen|zugenommen|anstieg|zunahme',
  'augment(?:e|ent|é|ée|és|ées|ation)|progressé|hausse|subi(?:ó|eron|do)|aumentaron',
  'aument(?:ó|o|ato|ata|ati|ado|ou)|creci(?:ó|eron|do)|cresceu|cresciut[oaie]',
];
const fell = [
  'fell|falls?|fallen|drop(?:s|ped)?|declin(?:es?|ed)|decreas(?:es?|ed)|shr[aiu]nk|sank',
  'sank(?:en)?|sinkt|gesunken|fiel(?:en)?|gefallen|abgenommen|zurückgegangen|rückgang',
  'geschrumpft|diminu(?:e|ent|é|ée|és|ées|tion)|baiss(?:e|ent|é|ée|és|ées)|recul(?:é|e)?',
  'chut(?:e|é)|baj(?:ó|aron|ado)|disminuy(?:ó|eron)|disminuido|cay(?:ó|eron)|caído|caída',
  'descendi(?:ó|eron)|descenso|diminuiu|caiu|diminuit[oaie]',
];
/** What makes a direction doubtful: denials, conditions, contrasts, and `fell short`. */
const doubts = [
  "not?|never|n[o']t|\\p{L}+n['’]t|without|neither|nor|if|would|could|should|might|will",
  'while|whereas|but|although|though|despite|instead|rather|unless|until|short|as|when|after',
  'nicht|kein\\p{L}*|nie|ohne|wenn|falls|würde\\p{L}*|könnte\\p{L}*|während|aber|obwohl|trotz',
  'pas|jamais|sans|aucune?|si|tandis|alors|mais|bien|malgré|quoique|nunca|sin|ningun\\p{L}*',
  'mientras|pero|aunque|pesar|cuando|quand|lorsque|non|senza|mentre|não|sem|enquanto',
];
const word = (words: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{L}'’-])(?:${words.join('|')})(?![\\p{L}-])`, 'giu');
const [roseWord, fellWord, doubtWord] = [word(rose), word(fell), word(doubts)];

/** A word that says that something rose (1) or fell (-1). Places are in the text. */
export interface DirectionWord {
  readonly sign: 1 | -1;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Also `up` and `down`, which say so only right before `from`. */
export function findDirectionsFrom(text: string): readonly DirectionWord[] {
  const particles = [...text.matchAll(/(?<!\p{L})(?:up|down)(?=\s+from\s)/giu)];
  return [
    ...findDirections(text),
    ...particles.map(({ 0: found, index }): DirectionWord => {
      const sign = /up/i.test(found) ? 1 : -1;
      return { sign, text: found, start: index, end: index + found.length };
    }),
  ];
}

function findDirections(text: string): readonly DirectionWord[] {
  const find = (pattern: RegExp, sign: 1 | -1): readonly DirectionWord[] =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      sign,
      text: found,
      start: index,
      end: index + found.length,
    }));
  return [...find(roseWord, 1), ...find(fellWord, -1)];
}

/** The only direction of a text that nothing makes doubtful. */
export function onlyDirection(text: string): DirectionWord | undefined {
  const [first, ...others] = findDirections(text);
  return others.length === 0 && !isDoubtful(text) ? first : undefined;
}

export function isDoubtful(text: string): boolean {
  return /[;:?]/.test(text) || text.search(doubtWord) >= 0;
}
