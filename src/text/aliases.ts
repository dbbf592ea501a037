import { simplified, tokenize } from "./tokens.ts";

/**
 * Terms that mean about the same as a term: people and skills call things by different names.
 * Looked up in the text of the tables, so that a cold process prepares nothing.
 */
export function findAliases(term: string): string[] {
  const found = new Set<string>();
  // The tables have words as people write them; a term may have lost its plural.
  for (const word of [term, `${term}s`]) {
    for (const row of findRows(groups, word)) for (const other of tokenize(row)) found.add(other);
    for (const row of findRows(abroad, word)) {
      const [left = "", right = ""] = row.split("=");
      // English is not translated back.
      if (left.includes(` ${word} `)) for (const other of tokenize(right)) found.add(other);
    }
  }
  found.delete(term);
  return [...found];
}

function findRows(table: string, word: string): string[] {
  const rows: string[] = [];
  for (let at = table.indexOf(` ${word} `); at >= 0; at = table.indexOf(` ${word} `, at + 1))
    rows.push(table.slice(table.lastIndexOf("|", at) + 1, table.indexOf("|", at)));
  return rows;
}

/** A word of a script without spaces, with English terms for it. */
interface Translation {
  readonly word: string;
  readonly terms: readonly string[];
}

/** The words in a text of a script without spaces that have English terms, the longest match first. */
export function translateWords(text: string): Translation[] {
  const terms = new Map(
    glossary.split("|").flatMap((row) => {
      const [left = "", right = ""] = row.trim().split("=");
      return left.split(" ").map((word) => [word, right.split(" ")] as const);
    }),
  );
  terms.delete("");
  const longest = Math.max(...[...terms.keys()].map((word) => word.length));
  const plain = Array.from(text, simplified).join("");
  const found: Translation[] = [];
  for (let at = 0; at < plain.length; ) {
    let length = Math.min(longest, plain.length - at);
    while (length > 0 && !terms.has(plain.slice(at, at + length))) length--;
    const word = plain.slice(at, at + length);
    if (length > 0) found.push({ word, terms: terms.get(word) ?? [] });
    at += Math.max(1, length);
  }
  return found;
}

/** Words that stand for one another, a group between two bars. */
const groups = `
| go golang | k8s kubernetes | js javascript | ts typescript | py python | rb ruby | rs rust |
| c# csharp dotnet net | cpp c++ | postgresql postgres psql | db database | repo repository | pr pullrequest |
| ci cicd pipeline | doc documentation document | readme documentation | config configuration setting |
| env environment | auth authentication login signin | authz authorization permission | oauth sso login |
| perf performance slow latency speed | optimize optimization performance faster | test testing | unittest test |
| e2e playwright cypress | spec specification | prd requirement | bug defect issue | fix repair debug |
| crash exception error | debug debugging troubleshoot diagnose | error failure failing |
| refactor refactoring cleanup | deploy deployment release ship | rollback revert | lint linter eslint |
| format formatter prettier | dep dependency | upgrade migrate migration | container docker | vm virtualmachine |
| aws amazon | gcp googlecloud | azure microsoft | infra infrastructure | iac terraform | log logging |
| monitoring observability alert | metrics kpi analytics | trace tracing | queue message messaging |
| ui interface frontend | ux usability | css styling style | component widget | a11y accessibility |
| i18n l10n internationalization localization translation | mobile ios android | spreadsheet excel xlsx csv |
| slide deck presentation powerpoint pptx | word docx | pdf acrobat | image picture photo | picture illustration |
| diagram chart flowchart mermaid | graph chart plot visualization | video clip | audio sound voice speech |
| transcript transcription subtitle caption | email mail newsletter | sms texting | blog post article |
| copy copywriting | tweet twitter x | social socialmedia linkedin instagram | seo search ranking |
| ad advertising campaign paid | ppc ads | cro conversion optimization | signup registration onboarding |
| churn retention | pricing price | competitor competitive rival | prospect lead outreach | crm salesforce hubspot |
| customer client | invoice billing | payment stripe checkout | finance financial accounting |
| stock equity investment | crypto blockchain web3 | contract legal agreement | resume cv |
| interview hiring recruiting | job career | meeting minute | calendar schedule | todo task |
| plan planning roadmap | brainstorm ideation idea | summary summarize tldr | translate translation |
| research investigate study | paper academic literature | cite citation reference | scrape scraping crawl crawler |
| browser chrome | automate automation | workflow process | cron schedule scheduled | agent assistant |
| prompt prompting | llm ai model gpt | ml machinelearning | dl deeplearning | nlp language |
| rag retrieval embedding vector | finetune finetuning training | dataset data | etl pipeline | sql query |
| schema table | orm prisma sqlalchemy | index indexing | cache caching redis | api endpoint rest | graphql gql |
| webhook callback | grpc protobuf | ws websocket | sdk library | cli terminal commandline | shell bash script |
| regex regexp | git commit | branch worktree | merge conflict | review audit | security vulnerability secure |
| pentest penetration exploit | secret credential password | encrypt encryption crypto | threat risk |
| compliance gdpr regulation | privacy pii | license licensing | adr decision | architecture design |
| pattern bestpractice | api openapi swagger | mock stub | coverage test | tdd test | benchmark performance |
| memory leak | thread concurrency concurrent async | race deadlock | serverless lambda | nextjs next react |
| reactnative mobile | vue nuxt | svelte sveltekit | tailwind css | shadcn radix | django flask fastapi |
| laravel php | rails ruby | spring java | kotlin android | swift swiftui ios | unity game | game gamedev |
| 3d threejs webgl | map geo geospatial gis | iot embedded firmware | hardware device | robot robotic |
| rpa automation | math formula equation | statistics statistical | forecast prediction timeseries |
| experiment abtest ab | survey questionnaire | persona audience | brand branding | logo icon | font typography |
| color palette | theme darkmode | landing landingpage homepage | website site web | wordpress cms |
| ecommerce shop store | product feature | launch release | story userstory | sprint scrum agile |
| okr goal objective | scoreboard dashboard | dashboard report | note notetaking obsidian | notion wiki |
| knowledge knowledgebase wiki | memory remember | slack discord chat | bot chatbot |
`;

/** Everyday words of other languages that are written with spaces, without accents. */
const abroad = `
| crear creo cree criar = create | anadir agregar adicionar = add | borrar eliminar excluir = delete remove |
| buscar = search find | cambiar = change | actualizar atualizar = update | arreglar corregir corrigir = fix |
| escribir escrever = write | leer ler = read | revisar = review | probar testar = test |
| prueba pruebas teste testes = test testing | disenar desenhar = design | diseno = design | construir = build |
| desplegar implantar = deploy | despliegue = deployment | ejecutar executar = run execute | instalar = install |
| configurar = configure setup | configuracion configuracao = configuration | generar gerar = generate |
| analizar analisar = analyze analysis | analisis analise = analysis | optimizar otimizar = optimize |
| mejorar melhorar = improve | explicar = explain | traducir traduzir = translate | resumir = summarize |
| resumen resumo = summary | documento documentos = document | documentacion documentacao = documentation |
| archivo archivos fichero arquivo = file | carpeta pasta = folder | codigo = code | base datos dados = data |
| basededatos = database | tabla tabela = table | consulta = query | servidor = server | nube nuvem = cloud |
| red rede = network | seguridad seguranca = security | usuario usuarios = user |
| cliente clientes = client customer | contrasena senha = password | sesion sessao = session |
| error errores erro = error | fallo falha = failure | rendimiento desempenho = performance |
| lento = slow performance | memoria = memory | herramienta herramientas ferramenta = tool |
| agente agentes = agent | tarea tareas tarefa = task | flujo fluxo = workflow flow | proyecto projeto = project |
| plan plano = plan | informe relatorio = report | presentacion apresentacao = presentation |
| hoja planilha = spreadsheet | correo = email | imagen imagem = image | pagina = page | sitio = site website |
| interfaz = interface | pantalla tela = screen | boton botao = button | formulario = form |
| pago pagamento = payment | precio preco = price pricing | venta ventas vendas = sales | mercado = market |
| mercadeo = marketing | campana campanha = campaign | contenido conteudo = content | articulo artigo = article |
| red redes = network social | empresa = company business | reunion reuniao = meeting | contrato = contract |
| riesgo risco = risk | requisito requisitos = requirement | evaluar avaliar = evaluate |
| evaluacion avaliacao = evaluation | lote = batch | mensaje mensaje mensagem = message |
| respuesta resposta = response answer | pregunta pergunta = question | cola fila = queue | salida = output |
| entrada = input | esquema = schema | validar = validate | validacion validacao = validation |
| reintento reintentos = retry | limite = limit | costo coste custo = cost |
| escalar escalamiento = escalation scale | entrega handoff = handoff | erreur = error |
| creer ecrire = create write | fichier = file | donnees = data | datei = file | daten = data | fehler = error bug |
| erstellen = create | schreiben = write | prufen = check review | ubersetzen = translate |
`;

/** Everyday words of software and office work in Chinese, Japanese and Korean, in simplified characters all of them. */
const glossary = `
| 数据库 データベース 데이터베이스=database | 数据 データ 데이터=data | 数据分析 データ分析=data analysis |
| 代码 コード 코드=code | 代码审查 代码评审 审查代码 コードレビュー 코드리뷰=code review |
| 审查 评审 レビュー 리뷰 审核=review | 测试 テスト 테스트=test testing | 单元测试 単体テスト=unit test |
| 集成测试=integration test | 自动化 自动化 자동화=automation automate | 部署 デプロイ 배포=deploy deployment |
| 发布 发版 上线 リリース 릴리스=release publish | 构建 ビルド 빌드=build | 编译 コンパイル=compile |
| 调试 デバッグ 디버깅 디버그=debug debugging | 错误 报错 エラー 에러 오류=error | 异常 例外=exception error |
| 故障 障害 排查 排障=troubleshoot incident failure | 修复 修正 修改 수정 直す=fix |
| 漏洞 脆弱性 취약점=vulnerability security | 安全 セキュリティ 보안=security |
| 性能 パフォーマンス 성능=performance | 优化 最适化 최적화=optimize optimization | 慢 遅い 느린=slow performance |
| 重构 リファクタリング 리팩토링=refactor refactoring | 架构 アーキテクチャ 아키텍처=architecture |
| 设计 设计 デザイン 디자인 설계=design | 接口=api interface | 文档 ドキュメント 문서=documentation document |
| 说明书 手册 マニュアル=manual guide | 注释 コメント 주석=comment | 提交 コミット 커밋=commit |
| 分支 ブランチ 브랜치=branch | 合并 マージ 병합=merge | 冲突 竞合=conflict | 仓库 リポジトリ 저장소=repository |
| 版本 バージョン 버전=version | 依赖 依存 의존성=dependency | 升级 アップグレード=upgrade |
| 迁移 移行 마이그레이션=migration migrate | 配置 设定 설정=configuration setup | 环境 环境 환경=environment |
| 安装 インストール 설치=install | 服务器 サーバー 서버=server | 容器 コンテナ 컨테이너=container docker |
| 云 クラウド 클라우드=cloud | 网络 ネットワーク 네트워크=network | 日志 ログ 로그=log |
| 监控 监视 모니터링=monitoring | 告警 アラート=alert | 缓存 キャッシュ 캐시=cache | 队列 キュー=queue |
| 并发 并行=concurrency | 线程 スレッド=thread | 内存 メモリ 메모리=memory |
| 前端 フロントエンド 프론트엔드=frontend | 后端 バックエンド 백엔드=backend | 全栈=fullstack |
| 组件 コンポーネント 컴포넌트=component | 页面 ページ 페이지=page | 网页 ウェブページ=web page |
| 网站 サイト 웹사이트 ウェブサイト=website | 界面 画面 화면=ui interface screen | 样式 スタイル=style css |
| 布局 レイアウト=layout | 响应式=responsive | 动画 アニメーション 애니메이션=animation | 按钮 ボタン 버튼=button |
| 表单 フォーム=form | 登录 ログイン 로그인=login authentication | 注册 登録 회원가입=signup register |
| 认证 认证 인증=authentication | 权限 権限 권한=permission authorization | 密码 パスワード 비밀번호=password |
| 用户 ユーザー 사용자=user | 客户 顾客 고객=customer | 支付 决済 결제=payment | 订单 注文 주문=order |
| 价格 定价 価格 가격=price pricing | 小程序=miniprogram wechat | 公众号=wechat | 微信=wechat |
| 小红书=xiaohongshu rednote | 抖音=douyin tiktok | 知乎=zhihu | 微博=weibo | 飞书=feishu lark | 钉钉=dingtalk |
| 淘宝=taobao | 浏览器 ブラウザ 브라우저=browser | 爬虫 爬取 抓取 スクレイピング 크롤링=scrape crawler scraping |
| 搜索 检索 検索 검색=search | 查询 クエリ 쿼리=query | 索引 インデックス=index |
| 表格 スプレッドシート 스프레드시트=spreadsheet excel table | 图表 グラフ チャート 차트=chart visualization |
| 可视化 可视化 시각화=visualization | 报告 报表 レポート 보고서 报告书=report |
| 仪表盘 看板 ダッシュボード 대시보드=dashboard | 统计 统计 통계=statistics | 预测 予测 예측=forecast prediction |
| 模型 モデル 모델=model | 训练 学习=training | 机器学习 机械学习=machine learning | 深度学习=deep learning |
| 人工智能=ai | 大模型=llm | 智能体 エージェント 에이전트 代理=agent | 提示词 プロンプト 프롬프트=prompt |
| 知识库 ナレッジ=knowledge | 记忆 记忆=memory | 工作流 ワークフロー 워크플로우 流程=workflow |
| 任务 タスク 작업=task | 计划 规划 计画 계획=plan planning | 需求 要件 요구사항=requirement |
| 功能 机能 기능=feature | 产品 制品 제품 プロダクト=product | 项目 プロジェクト 프로젝트=project |
| 团队 チーム 팀=team | 会议 会议 회의 ミーティング=meeting | 纪要 议事録=minutes notes meeting |
| 邮件 メール 이메일=email | 日历 カレンダー=calendar | 日程=schedule calendar | 笔记 ノート 메모=note |
| 总结 摘要 要约 요약 まとめ=summary summarize | 翻译 翻訳 번역=translate translation |
| 写作 撰写 执笔 执笔=writing write | 文章 记事=article writing | 润色 改写 推敲=polish rewrite edit |
| 文案 コピー=copywriting copy | 标题 见出し=headline title | 博客 ブログ 블로그=blog |
| 推文 ツイート=tweet twitter post | 社交媒体=social media | 营销 マーケティング 마케팅=marketing |
| 广告 広告 광고=advertising ads | 推广 宣传=promotion marketing | 品牌 ブランド=brand | 竞品 竞合他社=competitor |
| 市场 市场 시장=market | 销售 営业 판매=sales | 运营=operations | 增长=growth | 转化=conversion |
| 调研 调查 调査 조사=research survey | 研究 연구=research | 论文 论文 논문=paper academic | 文献=literature |
| 引用=citation | 法律 法务=legal | 合同 契约 계약=contract | 简历 履歴书 이력서=resume cv |
| 面试 面接 면접=interview | 岗位 职位 求人 招聘 采用=job hiring | 求职=job career |
| 财务 财报 财务=financial finance | 发票 请求书 청구서=invoice | 股票 株 주식=stock | 投资 投资 투자=investment |
| 基金=fund | 加密货币=crypto | 税=tax | 图片 图像 画像 이미지=image | 照片 写真=photo |
| 视频 动画 비디오 영상=video | 音频 音声 오디오=audio speech | 语音=voice speech | 字幕=subtitle caption |
| 配音=voiceover tts | 剪辑=video edit | 幻灯片 演示 演示文稿 スライド 슬라이드=slides presentation pptx |
| 海报 ポスター=poster | 图标 アイコン=icon | 封面=cover | 插画 イラスト=illustration |
| 思维导图 マインドマップ=mindmap | 流程图 フローチャート=flowchart diagram | 架构图 図=diagram |
| 原型 プロトタイプ=prototype | 游戏 ゲーム 게임=game | 教程 チュートリアル=tutorial | 课程 コース=course |
| 学习 勉强=learning | 教学 教育=teaching education | 题目 试题 テスト问题=quiz exam | 考试=exam | 健康=health |
| 医疗 医疗=medical | 饮食 レシピ=recipe food | 旅行 旅游 旅行计画=travel | 天气 天気=weather | 地图 地図=map |
| 新闻 ニュース 뉴스=news | 小说 小説=novel fiction | 故事 ストーリー=story | 剧本 脚本=script screenplay |
| 角色 キャラクター=character | 文件 ファイル 파일=file | 文件夹 フォルダ=folder |
| 脚本语言 スクリプト 스크립트=script | 命令行 コマンド=command cli | 终端 ターミナル=terminal |
| 插件 プラグイン 플러그인=plugin extension | 扩展 拡张=extension | 模板 テンプレート=template |
| 格式 フォーマット=format | 转换 変换 변환=convert conversion | 导出 エクスポート=export | 导入 インポート=import |
| 上传 アップロード=upload | 下载 ダウンロード=download | 备份 バックアップ=backup | 同步 同期=sync |
| 定时 スケジュール=schedule cron | 通知=notification | 消息 メッセージ=message | 机器人 ボット=bot |
| 客服=customer support | 评估 评価 평가=evaluation evaluate | 验证 検证 검증=verify validation |
| 检查 チェック 확인=check | 质量 品质 품질=quality | 规范 规约=convention standard |
| 最佳实践 ベストプラクティス=best practices | 决策 意思决定=decision | 风险 リスク=risk |
| 头脑风暴 ブレスト ブレインストーミング=brainstorm | 创意 アイデア=idea creative | 问题 问题=issue problem |
| 分析 분석=analysis analyze | 生成 생성=generate | 创建 作成 작성 만들=create |
| 实现 开発 开发 実装 구현 개발=implement development | 添加 新增 追加 추가=add | 删除 削除 삭제=delete remove |
| 更新 업데이트=update | 比较 对比 比较=compare comparison | 解释 説明=explain | 目标 目标=goal | 指标 指标=metric |
| 战略 策略 戦略=strategy | 执行 実行=execution | 承诺 コミットメント=commitment | 责任 责任=accountability |
| 周会 周会=weekly meeting | 领先 先行=lead |
`;
