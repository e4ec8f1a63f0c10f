/** Words beside a number that say which way it changes something, in a dozen languages. */
const more = [
  'up|rose|rises?|risen|grew|grows?|grown|growth|rise|plus|anstieg|zunahme|zuwachs',
  'increas(?:es?|ed|ing)|gain(?:s|ed)?|climb(?:s|ed)?|jump(?:s|ed)?|stieg(?:en)?|steigt|gestiegen',
  'wuchs(?:en)?|wächst|gewachsen|zugenommen|augment(?:e|ent|é|ée|és|ées|ation)|progressé',
  'progression|hausse|subi(?:ó|eron|do)|subida|aumentaron|aument(?:ó|o|ato|ata|ati|ado|ou)',
  'creci(?:ó|eron|do|miento)|cresceu|cresciut[oaie]|crescita|alta|alza|stijg(?:t|en|ing)|steeg',
  'stegen|gestegen|groei(?:t|de|den)?|gegroeid|toename|wzrost|wzrosł[aoy]?|wzrósł|ökade|ökat',
  'ökning|steg|artış|arttı|рост|вырос(?:л[аои])?',
];
const less = [
  'down|fell|falls?|fallen|drop(?:s|ped)?|declin(?:es?|ed)|decline|minus|rückgang|abnahme',
  'decreas(?:es?|ed|ing)|shrank|shrinks?|lost|sank(?:en)?|sinkt|gesunken|fiel(?:en)?|gefallen',
  'abgenommen|geschrumpft|schrumpfte(?:n)?|verlor(?:en)?|diminu(?:e|ent|é|ée|és|ées|tion)',
  'baiss(?:e|ent|é|ée|és|ées)|recul(?:e|é)?|chut(?:e|é)|baj(?:ó|aron|ado|ada)|disminución',
  'disminuy(?:ó|eron)|disminuido|cay(?:ó|eron)|caído|caída|descenso|redução|queda|diminuiu|caiu',
  'diminuit[oaie]|diminuzione|calo|calat[oaie]|daal(?:t|de|den)|gedaald|daling|afname|spadek',
  'spadł[aoy]?|minskade|minskat|minskning|sjönk|azalış|azaldı|снижение|упал[аои]?',
];
/** Before a number, these would say that it is a bound: `over 20`. */
const moreBehind = [
  '(?<!(?:year|quarter|month|week|day)[ -])over|above|ahead|more|higher|longer|larger|bigger|mehr|höher|länger|größer|über|de plus|más',
  'in più|a mais|meer|hoger|więcej|högre|fler',
];
const lessBehind = [
  'under|below|behind|less|fewer|lower|shorter|smaller|weniger|niedriger|kürzer|kleiner|unter',
  'de moins|menos|in meno|a menos|minder|lager|mniej|lägre|färre',
];
const word = (words: readonly string[], joined = '(?!)'): RegExp =>
  new RegExp(`(?<![\\p{L}'’-])(?:${words.join('|')})(?![\\p{L}-])|${joined}`, 'giu');
const moreJoined = '増加|增加|增长|上昇|上升|多い|長く|高く|증가';
const lessJoined = '減少|减少|下降|低下|下落|少ない|短く|低く|감소';
const patterns: readonly (readonly [sign: 1 | -1, pattern: RegExp, isBehind: boolean])[] = [
  [1, word(more, moreJoined), false],
  [-1, word(less, lessJoined), false],
  [1, word(moreBehind), true],
  [-1, word(lessBehind), true],
];

export interface ChangeWord {
  readonly sign: 1 | -1;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** A word that stands behind its number: `5 more than`. */
  readonly isBehind: boolean;
}

/** The only word beside a number that tells a direction; undefined without one, or with two. */
export function onlyChangeWord(clause: string, numberAt: number): ChangeWord | undefined {
  const [first, ...others] = patterns.flatMap(([sign, pattern, isBehind]) =>
    [...clause.matchAll(pattern)]
      .filter(({ index }) => !isBehind || index > numberAt)
      .map(({ 0: found, index }): ChangeWord => {
        return { sign, text: found, start: index, end: index + found.length, isBehind };
      }),
  );
  return others.length === 0 ? first : undefined;
}
