import type { Statement } from '../statements.ts';

/** What models say when they ask, or offer to do more, in the languages of the answers. */
const offers = [
  "let me (?:know|answer|check|rerun)|(?:i|we) can (?:also|then|easily|gladly|quickly|re-?run|redo|break|split|slice|list|show|add|give|provide|pull|convert|profile|drill|check|include|extend|look|compare|export|dig|send|filter|group|narrow|plot|chart|restrict|adjust|switch)|(?:i|we) could (?!only|not|see|find|match|identify|confirm|verify|retrieve)|i(?:'|’)d be (?:happy|glad)|happy to|(?:want|like) me to|shall i|should i|would you like|if you(?:'|’)?d? (?:like|want|prefer|wish|need)|feel free|i(?:'|’)d (?:wait|recommend|suggest|start|look|focus|consider|keep|use|test|aim|treat|avoid)|i (?:recommend|suggest)|worth (?:\\p{L}+ing)|it may be worth",
  'soll ich|möchten sie|möchtest du|wenn (?:sie|du) (?:möchte\\p{L}*|woll\\p{L}*|willst|wünsch\\p{L}*|magst|mögen)|bei bedarf|auf wunsch|ich kann (?:auch|gern\\p{L}*|ihnen|dir|das|die|den|es)|gern\\p{L}* (?:auch|kann|schlüssele|liste|erstelle)|bescheid|mich wissen|könnte ich|müsste ich|kann ich|ich würde|ich empfehle|würde ich',
  "voulez-vous|souhaitez-vous|veux-tu|souhaites-tu|si vous (?:le )?(?:voulez|souhaitez|préférez)|si tu (?:veux|préfères|souhaites)|je peux|je pourrais|dites-moi|dis-moi|je (?:vous )?(?:recommande|suggère|conseille)|n['’]hésitez",
  'quieres que|quiere que|si (?:lo )?(?:quieres|deseas|prefieres|desea|quiere|prefiere|necesitas)|puedo|podría (?:desglos|list|mostr|compar|calcul)\\p{L}*|avísame|dime si|recomiendo|recomendaría|sugiero|convendría|dígame',
  'se (?:quiser|preferir|desejar|precisar)|posso|quer que eu|recomendo|sugiro|gostaria de|me avise|avise-me|diga-me',
  'se (?:vuoi|preferisci|desideri|vuole|preferisce)|potrei|vuoi che|consiglio di|consiglierei|suggerisco|fammi sapere|dimmi se',
  'wil je|wilt u|als (?:je|u) (?:wilt|wil|liever)|ik kan (?:ook|dit|het|de|je|u)|zal ik|ik raad|zou ik|laat (?:het )?(?:me|mij) weten|desgewenst',
  'vill du|om du vill|jag kan (?:även|också)|ska jag|säg till|vil du|hvis du (?:vil|ønsker)|jeg kan (?:også|godt)|skal jeg|sig til|si fra',
  'czy mam|jeśli chcesz|jeżeli chcesz|mogę|daj znać|chcesz|chcete|pokud chcete|dejte vědět|mohu',
  'хотите|если (?:хотите|нужно)|могу|дайте знать|isterseniz|ister misiniz|istersen|szeretnéd?|haluatko|jos haluat|doriți|pot să|θέλετε|apakah anda|saya bisa|bạn có muốn',
].join('|');

const offerWords = new RegExp(
  `(?<!\\p{L})(?:${offers})(?!\\p{L})|ご希望|必要であれば|ご要望|お知らせください|お申し付け|ましょうか|おすすめ|でしょうか|如需|如果(?:您|你)?(?:需要|想|希望)|需要我|要我|我可以|要不要|建议|请告诉我|원하시면|원하신다면|드릴까요|추천|필요하시면|알려\\s?주세요`,
  'iu',
);

const asks = /[?？][\s"”»)\]*_]*$|か。\s*$/u;

/** What a semicolon or a dash begins is said for itself. */
const clauseEnd = /;|—|\s[–-]\s/gu;

/**
 * True for what stands in a question or behind the words of an offer to the person, and in an entry
 * of a list of such.
 */
export function isOffered({ text, start, lead = '' }: Statement, place: number): boolean {
  if (/\[q\d/i.test(text)) return false;
  const at = place - start;
  const ends = [...text.matchAll(clauseEnd)].map(({ index }) => index);
  const from = ends.findLast((end) => end < at) ?? 0;
  const clause = text.slice(from, ends.find((end) => end >= at) ?? text.length);
  const offer = clause.search(offerWords);
  const isOfList = /:\s*$/.test(lead) && offerWords.test(lead);
  return asks.test(clause) || (offer >= 0 && from + offer < at) || isOfList;
}
