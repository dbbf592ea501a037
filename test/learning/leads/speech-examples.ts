/** What a turn of a person is, for the tests. */
export type Said = "user-correction" | "explicit-instruction" | "convention" | "nothing";

export interface Example {
  readonly said: string;
  /** The first words of the agent's next reply. */
  readonly reply: string;
  readonly is: Said;
  /** What stood before it: an edit (the default), or an edit that the person turned down with these words. */
  readonly before?: "edit" | "rejected" | "talk" | "start";
}

/** Turns as developers write them, invented before the patterns were, so that they show how these travel. */
export const examples: readonly Example[] = [
  // English: corrections
  {
    said: "no, use pnpm not npm here",
    reply: "You're right, this is a pnpm workspace. Switching.",
    is: "user-correction",
  },
  {
    said: "why did you add a new util? we already have formatDate in src/lib/dates.ts",
    reply: "Good catch, I should have reused it. Let me remove mine.",
    is: "user-correction",
  },
  {
    said: "don't mock the database in these tests, we run them against a real postgres in docker",
    reply: "Understood. I'll rewrite the tests to use the real database.",
    is: "user-correction",
    before: "rejected",
  },
  {
    said: "You're editing the generated file. Edit the .proto and rerun the generator instead.",
    reply: "You're right — that file is generated. Let me revert and change the proto.",
    is: "user-correction",
  },
  {
    said: "Stop. You were supposed to only touch the backend, revert the frontend changes",
    reply: "Sorry about that. Reverting the frontend changes now.",
    is: "user-correction",
  },
  {
    said: "that's not how we do migrations, they have to be made with alembic revision --autogenerate rather than by hand",
    reply: "Got it. I'll delete the hand-written one and generate it.",
    is: "user-correction",
  },
  {
    said: "I said python 3.12 not 3.11",
    reply: "Apologies, you did. Updating to 3.12.",
    is: "user-correction",
  },
  {
    said: "wrong repo, the infra lives in ../platform-infra",
    reply: "Ah, I see. I'll move the change to ../platform-infra.",
    is: "user-correction",
  },
  {
    said: "You keep running the whole test suite, just run the tests of the package you changed",
    reply: "Fair point. I'll run only the tests for the changed package.",
    is: "user-correction",
  },
  {
    said: "We don't use default exports in this codebase",
    reply: "You're right, let me change it to a named export.",
    is: "user-correction",
  },
  {
    said: "hmm this should go through the repository layer, the controllers never talk to the ORM directly",
    reply: "Good point. I'll move the query into the repository.",
    is: "user-correction",
  },
  {
    said: "actually the config is in config/settings.yml, you don't need to make another one",
    reply: "Thanks, I missed that. Let me use config/settings.yml.",
    is: "user-correction",
  },
  {
    said: "Did you even run it? Check that it compiles before you tell me that it's done",
    reply: "You're right, I should have compiled it first.",
    is: "user-correction",
  },
  {
    said: "too complicated. no factory classes, a plain function is enough",
    reply: "Agreed, let me simplify this to a plain function.",
    is: "user-correction",
    before: "rejected",
  },
  {
    said: "please dont commit until I reviewed it",
    reply: "Understood, I won't commit until you've reviewed.",
    is: "user-correction",
    before: "rejected",
  },
  // English: look-alikes
  {
    said: "it still doesn't work, same error as before",
    reply: "Let me look at the logs again.",
    is: "nothing",
  },
  {
    said: "why is the build so slow?",
    reply: "The build is slow because of the source maps.",
    is: "nothing",
  },
  {
    said: "can you also add a dark mode toggle to the settings page",
    reply: "Sure! I'll add a toggle.",
    is: "nothing",
  },
  { said: "make the button blue instead of green", reply: "Done, the button is blue now.", is: "nothing" },
  { said: "ok looks good, go ahead", reply: "Great, continuing with step two.", is: "nothing" },
  { said: "let's skip the tests for now", reply: "OK, skipping the tests for now.", is: "nothing" },
  { said: "no", reply: "OK, I'll leave it as it is.", is: "nothing", before: "talk" },
  { said: "2", reply: "Option 2 it is.", is: "nothing", before: "talk" },
  {
    said: "The user should not be able to submit the form when the email is empty",
    reply: "You're right, let me add the validation.",
    is: "nothing",
  },
  {
    said: "TypeError: Cannot read properties of undefined (reading 'map')\n    at List (src/List.tsx:14:22)\n    at renderWithHooks",
    reply: "You're right, the list can be undefined. Fixing.",
    is: "nothing",
  },
  {
    said: "do you remember where we put the deploy script?",
    reply: "Yes, it is in scripts/deploy.sh.",
    is: "nothing",
  },
  {
    said: "the sidebar always overlaps the content on mobile",
    reply: "Let me check the CSS.",
    is: "nothing",
  },
  { said: "I don't understand, what does this function do?", reply: "It parses the header.", is: "nothing" },
  {
    said: "should we use redis or memcached here?",
    reply: "Good question. I would use redis.",
    is: "nothing",
  },
  {
    said: "When the user always chooses the same city, remember this choice in local storage",
    reply: "I'll store the last city in local storage.",
    is: "nothing",
  },
  { said: "now implement step 3 of the plan", reply: "Starting with step 3.", is: "nothing" },
  { said: "the header is too big, make it smaller", reply: "Made the header smaller.", is: "nothing" },
  {
    said: "what about the edge case where the list is empty?",
    reply: "Good catch! Let me handle it.",
    is: "nothing",
  },
  { said: "thanks, that fixed it!", reply: "Glad it works.", is: "nothing" },
  { said: "No errors anymore, commit and push", reply: "Committed and pushed.", is: "nothing" },
  // English: instructions and conventions
  { said: "save this as docker-dev", reply: "Saved as docker-dev.", is: "explicit-instruction" },
  {
    said: "from now on run the linter before every commit",
    reply: "Will do. I'll run the linter before each commit.",
    is: "explicit-instruction",
  },
  {
    said: "always answer in English please",
    reply: "Sure, I'll answer in English.",
    is: "explicit-instruction",
  },
  {
    said: "remember this: staging deploys go through the blue cluster first",
    reply: "Noted.",
    is: "explicit-instruction",
  },
  {
    said: "add to AGENTS.md that commits need a ticket number",
    reply: "Added the rule to AGENTS.md.",
    is: "explicit-instruction",
  },
  {
    said: "In future please don't create summary markdown files unless I ask for them",
    reply: "Understood, no more summary files.",
    is: "explicit-instruction",
  },
  {
    said: "next time ask me before you delete a branch",
    reply: "Understood, I'll ask before deleting branches.",
    is: "explicit-instruction",
  },
  {
    said: "Add an endpoint for invoices. In this repo every handler needs a zod schema in src/schemas and a test next to it.",
    reply: "I'll add the endpoint with a schema and a test.",
    is: "convention",
    before: "start",
  },
  {
    said: "Implement the export. Follow the guidelines in CONTRIBUTING.md, we never use any in this codebase.",
    reply: "Let me read CONTRIBUTING.md first.",
    is: "convention",
    before: "start",
  },
  // Chinese
  { said: "不对，这个项目用的是yarn，不要用npm", reply: "你说得对，我改用 yarn。", is: "user-correction" },
  {
    said: "你为什么要新建一个组件？已经有 UserCard 了",
    reply: "抱歉，我应该复用 UserCard。",
    is: "user-correction",
  },
  {
    said: "别直接改数据库，要写迁移脚本",
    reply: "明白了，我来写迁移脚本。",
    is: "user-correction",
    before: "rejected",
  },
  {
    said: "我说的是测试环境，不是生产环境",
    reply: "抱歉，理解错了。我改成测试环境。",
    is: "user-correction",
  },
  {
    said: "以后提交之前都要先跑一遍测试",
    reply: "好的，以后提交前我都会先跑测试。",
    is: "explicit-instruction",
  },
  { said: "记住，接口返回都要用驼峰命名", reply: "好的，已记住。", is: "explicit-instruction" },
  { said: "还是不行，报同样的错", reply: "让我再看看日志。", is: "nothing" },
  { said: "为什么这里要用缓存？", reply: "因为接口比较慢。", is: "nothing" },
  { said: "再加一个导出按钮", reply: "好的，我来加。", is: "nothing" },
  { said: "可以，继续吧", reply: "好的，继续。", is: "nothing" },
  { said: "字体再大一点", reply: "已调大字体。", is: "nothing" },
  // Japanese
  {
    said: "違います。テストはvitestではなくjestで書いてください",
    reply: "失礼しました。jest で書き直します。",
    is: "user-correction",
  },
  {
    said: "なんで新しいファイルを作ったの？既存のutils/date.tsを使って",
    reply: "申し訳ありません。既存のファイルを使います。",
    is: "user-correction",
  },
  {
    said: "勝手にコミットしないで。レビューしてからにして",
    reply: "承知しました。今後はレビュー後にコミットします。",
    is: "user-correction",
  },
  {
    said: "そうじゃなくて、APIの型はschema.tsから生成するようにして",
    reply: "ご指摘の通りです。schema.ts から生成します。",
    is: "user-correction",
    before: "rejected",
  },
  { said: "今後コミットメッセージは日本語で書いて", reply: "承知しました。", is: "explicit-instruction" },
  {
    said: "これからは必ずテストを実行してから報告してください",
    reply: "わかりました。",
    is: "explicit-instruction",
  },
  { said: "まだエラーが出ます", reply: "ログを確認します。", is: "nothing" },
  { said: "この関数は何をしていますか？", reply: "この関数は日付を整形します。", is: "nothing" },
  { said: "ログインボタンを追加して", reply: "追加します。", is: "nothing" },
  { said: "はい、お願いします", reply: "では進めます。", is: "nothing" },
  { said: "前回の設定を覚えていますか？", reply: "はい、覚えています。", is: "nothing" },
  // Korean
  { said: "아니, npm 말고 pnpm 써야 돼", reply: "맞습니다. pnpm으로 바꾸겠습니다.", is: "user-correction" },
  {
    said: "왜 새 컴포넌트를 만들었어? 이미 Button 컴포넌트가 있잖아",
    reply: "죄송합니다. 기존 Button을 사용하겠습니다.",
    is: "user-correction",
  },
  {
    said: "마음대로 파일 지우지 마세요. 먼저 물어보고 하세요",
    reply: "죄송합니다. 앞으로는 먼저 여쭤보겠습니다.",
    is: "user-correction",
    before: "rejected",
  },
  {
    said: "앞으로는 항상 한국어로 답변해줘",
    reply: "네, 한국어로 답변하겠습니다.",
    is: "explicit-instruction",
  },
  { said: "아직도 에러가 나요", reply: "로그를 확인해 보겠습니다.", is: "nothing" },
  { said: "이 함수는 뭐 하는 거야?", reply: "날짜를 변환하는 함수입니다.", is: "nothing" },
  { said: "로그인 버튼도 추가해줘", reply: "추가하겠습니다.", is: "nothing" },
  { said: "네 좋아요 진행해주세요", reply: "진행하겠습니다.", is: "nothing" },
  // Spanish, German, French
  {
    said: "no, así no, usa el script que ya existe en scripts/",
    reply: "Tienes razón, uso el existente.",
    is: "user-correction",
  },
  {
    said: "Nein, nicht den Produktionsserver, du sollst das erst auf Staging testen",
    reply: "Entschuldigung, ich teste zuerst auf Staging.",
    is: "user-correction",
  },
  {
    said: "Non, tu as modifié le mauvais fichier, il faut changer le template plutôt que le html généré",
    reply: "Vous avez raison, je modifie le template.",
    is: "user-correction",
  },
  { said: "a partir de ahora responde siempre en español", reply: "Entendido.", is: "explicit-instruction" },
  { said: "sigue sin funcionar", reply: "Reviso los logs.", is: "nothing" },
  { said: "Kannst du noch einen Button hinzufügen?", reply: "Klar, ich füge ihn hinzu.", is: "nothing" },
];
