export declare const clients: { readonly claude: string; readonly codex: string; readonly node24: string };
export declare function installClients(options?: { node24?: boolean }): Promise<typeof clients>;
export declare function installFolder(
  folder: string,
  how: { readonly says: string; readonly finish?: () => Promise<unknown> },
): Promise<void>;
