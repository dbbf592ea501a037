export declare const clients: { readonly claude: string; readonly codex: string; readonly node24: string };
export declare function installClients(options?: { node24?: boolean }): Promise<typeof clients>;
