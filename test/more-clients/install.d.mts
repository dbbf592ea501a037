export declare const moreClients: {
  readonly gemini: string;
  readonly opencode: string;
  readonly copilot: string;
  readonly pi: string;
};
export declare function installMoreClients(): Promise<typeof moreClients>;
