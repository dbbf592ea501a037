declare const KNACK_VERSION: string;

/** Written in by the build, from package.json. */
export const version = KNACK_VERSION;
