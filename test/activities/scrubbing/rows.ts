// Made-up secrets in the forms of real ones. They are put together here, so that no scanner takes this file for a leak.

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const MIXED = `${LETTERS}0123456789`;
const HEX = '0123456789abcdef';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const DIGITS = '0123456789';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** So many characters out of these, the same at every call. */
function some(characters: string, count: number): string {
  return Array.from({ length: count }, (_, at) => characters[(at * 7 + 3) % characters.length]).join('');
}

const mixed = (count: number) => some(MIXED, count);
const hex = (count: number) => some(HEX, count);
const uuid = [8, 4, 4, 4, 12].map(hex).join('-');
const object = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwtHead = object({ alg: 'HS256', typ: 'JWT' });
const jwtBody = object({ sub: '1234567890', name: 'Ada', iat: 1_800_000_000 });

/** By rule: texts of which the secret, and only it, is to go. */
export const SECRETS: Record<string, string[]> = {
  aws: [`AKIA${some(BASE32, 16)}`, `ASIA${some(BASE32, 16)}`],
  google: [`AIza${mixed(35)}`, `GOCSPX-${mixed(28)}`, `ya29.${mixed(60)}`, `1//0${mixed(60)}`],
  azure: [`abc8Q~${mixed(34)}`],
  digitalocean: [`dop_v1_${hex(64)}`],
  heroku: [`HRKU-${uuid}`],
  netlify: [`nfp_${mixed(36)}`],
  fly: [`fo1_${mixed(43)}`, `fm2_${mixed(120)}`],
  supabase: [`sbp_${hex(40)}`, `sb_secret_${mixed(30)}`],
  planetscale: [`pscale_tkn_${mixed(43)}`],
  databricks: [`dapi${hex(32)}`],
  vault: [`hvs.${mixed(90)}`],
  terraform: [`${mixed(14)}.atlasv1.${mixed(67)}`],
  doppler: [`dp.pt.${mixed(43)}`, `dp.st.prd.${mixed(43)}`],
  pulumi: [`pul-${hex(40)}`],
  github: [`ghp_${mixed(36)}`, `ghs_${mixed(36)}`, `github_pat_${mixed(82)}`],
  gitlab: [
    `glpat-${mixed(20)}`,
    `glpat-${mixed(27)}.01.${mixed(9)}`,
    `glptt-${hex(40)}`,
    `gloas-${hex(64)}`,
    `GR1348941${mixed(20)}`,
  ],
  bitbucket: [`ATBB${mixed(32)}`],
  atlassian: [`ATATT3x${mixed(180)}=1A2B3C4D`],
  npm: [`npm_${mixed(36)}`],
  pypi: [`pypi-AgEIcHlwaS5vcmc${mixed(120)}`],
  rubygems: [`rubygems_${hex(48)}`],
  docker: [`dckr_pat_${mixed(27)}`],
  artifactory: [`AKCp${mixed(69)}`, `cmVmd${mixed(59)}`],
  sentry: [`sntrys_${mixed(120)}`, `sntryu_${hex(64)}`],
  grafana: [`glsa_${mixed(32)}_${hex(8)}`, `glc_${mixed(80)}`],
  newrelic: [`NRAK-${some(UPPER, 27)}`],
  postman: [`PMAK-${hex(24)}-${hex(34)}`],
  stripe: [`sk_live_${mixed(24)}`, `rk_test_${mixed(99)}`, `whsec_${mixed(32)}`],
  square: [`sq0atp-${mixed(22)}`, `sq0csp-${mixed(43)}`, `EAAA-${mixed(59)}`],
  paypal: [`access_token$production$${some(`${HEX}xyz`, 16)}$${hex(32)}`],
  mollie: [`live_${mixed(30)}`],
  shopify: [`shpat_${hex(32)}`],
  meta: [`EAA${mixed(190)}`],
  slack: [
    `xoxb-${some(DIGITS, 12)}-${some(DIGITS, 12)}-${mixed(24)}`,
    `xapp-1-A0B-${some(DIGITS, 12)}-${hex(64)}`,
  ],
  discord: [`MT${mixed(22)}.${mixed(6)}.${mixed(27)}`, `NT${mixed(24)}.${mixed(6)}.${mixed(38)}`],
  telegram: [`${some(DIGITS, 10)}:AA${mixed(33)}`],
  twilio: [`SK${hex(32)}`],
  sendgrid: [`SG.${mixed(22)}.${mixed(43)}`],
  mailgun: [`key-${hex(32)}`],
  mailchimp: [`${hex(32)}-us14`],
  brevo: [`xkeysib-${hex(64)}-${mixed(16)}`],
  anthropic: [`sk-ant-api03-${mixed(93)}AA`],
  openai: [`sk-${mixed(20)}T3BlbkFJ${mixed(20)}`, `sk-proj-${mixed(74)}T3BlbkFJ${mixed(74)}`],
  openrouter: [`sk-or-v1-${hex(64)}`],
  deepseek: [`sk-${hex(32)}`],
  huggingface: [`hf_${some(LETTERS, 34)}`],
  groq: [`gsk_${mixed(52)}`],
  xai: [`xai-${mixed(80)}`],
  perplexity: [`pplx-${mixed(48)}`],
  replicate: [`r8_${mixed(37)}`],
  notion: [`ntn_${mixed(46)}`, `secret_${mixed(43)}`],
  linear: [`lin_api_${mixed(40)}`],
  figma: [`figd_${mixed(43)}`],
  airtable: [`pat${mixed(14)}.${hex(64)}`],
  hubspot: [`pat-eu1-${uuid}`],
  jwt: [
    `${jwtHead}.${jwtBody}.${mixed(43)}`,
    `${jwtHead}.${jwtBody}`,
    `${jwtHead}.eyJ${mixed(5_000)}.${mixed(342)}`,
  ],
  age: [`AGE-SECRET-KEY-1${some(UPPER, 58)}`],
  'private-key': [
    `-----BEGIN RSA PRIVATE KEY-----\n${mixed(64)}\n${mixed(20)}=\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${mixed(64)}\n-----END PGP PRIVATE KEY BLOCK-----`,
  ],
  card: [
    '4111 1111 1111 1111',
    '5500-0000-0000-0004',
    '378282246310005',
    '3782 822463 10005',
    '9792030394440796',
  ],
  iban: ['TR33 0006 1005 1978 6457 8413 26', 'DE89370400440532013000', 'gb29 nwbk 6016 1331 9268 19'],
};

/** What goes is only a part: text, secret in it, rule. */
export const EMBEDDED: [text: string, secret: string, rule: string][] = [
  ['postgres://app:s3cr&t@db.internal:5432/shop', 'app:s3cr&t', 'login-in-url'],
  ['mongodb+srv://root:p@ss@cluster0.example.net/x', 'root:p@ss', 'login-in-url'],
  ['redis://:hunter2@cache:6379', ':hunter2', 'login-in-url'],
  ['Authorization: Basic dXNlcjpwYXNzd29yZA==', 'dXNlcjpwYXNzd29yZA==', 'authorization'],
  [`{"authorization": "Bearer ${mixed(20)}"}`, `Bearer ${mixed(20)}`, 'bearer'],
  [`send Bearer ${mixed(20)} along`, mixed(20), 'bearer'],
  [`curl -H 'Authorization: token ${mixed(20)}' https://api.example.com`, mixed(20), 'authorization'],
  [`Set-Cookie: sid=${mixed(24)}; Path=/`, `sid=${mixed(24)}; Path=/`, 'cookie'],
  [
    `https://hooks.slack.com/services/T0${mixed(8)}/B0${mixed(8)}/${mixed(24)}`,
    `services/T0${mixed(8)}/B0${mixed(8)}/${mixed(24)}`,
    'slack-webhook',
  ],
  [
    `https://discord.com/api/webhooks/${some(DIGITS, 18)}/${mixed(68)}`,
    `${some(DIGITS, 18)}/${mixed(68)}`,
    'discord-webhook',
  ],
  [
    `https://api.telegram.org/bot${some(DIGITS, 9)}:AA${mixed(33)}/getMe`,
    `${some(DIGITS, 9)}:AA${mixed(33)}`,
    'telegram',
  ],
  ['DB_PASSWORD=hunter2', 'hunter2', 'password'],
  ['password: Kestrel-77x!', 'Kestrel-77x', 'password'],
  ['The password is kestrel77, ask at the desk.', 'kestrel77', 'password'],
  ['wifi şifre: deniz2027kum', 'deniz2027kum', 'şifre'],
  ['{"clientSecret":"correct horse battery"}', 'correct horse battery', 'secret'],
  ['{\\"api_key\\":\\"abcdef12345\\"}', 'abcdef12345', 'api-key'],
  ['https://x.example/cb?access_token=Zk3v9QpL1x&state=1', 'Zk3v9QpL1x', 'access-token'],
  [`Server=db;User=app;Password=Zk3v9Q!p;`, 'Zk3v9Q!p', 'password'],
  [`aws_secret_access_key = ${mixed(30)}/${mixed(9)}`, `${mixed(30)}/${mixed(9)}`, 'access-key'],
  [`AccountKey=${mixed(86)}==;EndpointSuffix=x`, `${mixed(86)}==`, 'key'],
  ['card 4111 1111 1111 1111 cvv: 737', '737', 'card-code'],
  ['Your PIN: 4821', '4821', 'pin'],
  ['Pay to TR330006100519786457841326 Harbour Desk', 'TR330006100519786457841326', 'iban'],
];

/** Nothing of these may change. */
export const HARMLESS: string[] = [
  'Table for two on 2027-10-03 at 19:30, see you then!',
  'Time: 14:30, key: A4, room 204',
  'Call +90 555 123 45 67, 0212 555 12 34 or +4111111111111111.',
  'Order 10293847561, order #A-10293, tracking 1Z999AA10123456784',
  'Order 4111111111111112 and invoice 2027100314300001',
  'created 1727951400000, EAN 4006381333931, ISBN 9783161484100',
  'id 3f2b8c1e-7d4a-4b6f-9a21-0c5d8e7f1a2b',
  'REF K-7Q2F, total €1,250.00 (1.250,00 TL)',
  'https://example.com/menu?day=2027-10-03&table=4#top',
  'https://localhost:8443/a@b and mail ada@example.com',
  'https://maps.example/@41.0082,28.9784,15z',
  'The password is required. Token: expired. Secret: a family recipe',
  'Password: Forgotten? Use the link below.',
  'api_key = ${API_KEY}, token=<your token>, password: ********',
  'Cookie: chocolate chip, Cookies: 3 for 5',
  'page_token=abc123DEF456ghi public_key: ssh-Zk3v9QpL1x',
  'menu_key: starters-spring-2027, idempotency_key=Zk3v9QpL1xAA',
  'Bowling pin: 12 lanes. Spin: 1200. PIN: 400001, Mumbai',
  'pk_live_0123456789abcdefghijABCD is publishable',
  'The bearer of this voucher: Bearer bonds are different things',
  'git commit 9f2c1e7a4b6d8f0a1c3e5b7d9f1a3c5e7b9d1f3a',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----',
  'GB00 NWBK 6016 1331 9268 19 is no account',
  'Merhaba 👋 saat 10:30 uygun mu? Fiyat: 450₺',
];
