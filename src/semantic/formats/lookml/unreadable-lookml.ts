/**
 * ktx cannot express a part of the LookML. The whole field or measure is left out, never read as
 * something else.
 */
export class UnreadableLookml extends Error {}
