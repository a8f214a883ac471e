/** url-table.ts: URLs with their expected verdicts, for tests in Node and in workerd, whose URL parsers differ. */

import type { UrlFlaw } from "../../shared/fault.ts"
import { checkPublicUrl } from "../../shared/text/public-url.ts"

/** Returns the verdict on a URL: `ok`, or the reason why it is refused. */
export function verdictOf(url: string): "ok" | UrlFlaw {
  const checked = checkPublicUrl(url)
  if (checked.ok) return "ok"
  if (checked.fault.reason !== "url_refused") throw new Error(checked.fault.reason)
  return checked.fault.because
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "")
}

const PUBLIC = words(`
  https://example.com https://example.com/ https://example.com/a/b.png https://www.example.org/x?y=1#z HTTPS://EXAMPLE.COM/A
  https://example.com:443/x https://example.com:8443/x https://example.com:65535/ https://example.com:/x https://a.b.c.d.example.net/
  https://example.com./x https://sub.domain.co.uk/x.mp3 https://xn--bcher-kva.example.com/ https://bücher.example.com/
  https://例え.jp/ https://пример.рф/ https://example.com/?u=http://127.0.0.1/ https://example.com/@user https://example.com/a:b@c
  https://example.com/#@127.0.0.1 https://example.com?email=a@b.c https://example.com?@example.org/ https://example.com#@example.org/
  https://example.com:443#@example.org/ https://example.com/..%2f..%2fetc https://local.example.com/ https://localhost.example.com/
  https://internal.example.com/ https://127.0.0.1.example.com/ https://metadata.example.com/ https://1.example.com/
  https://a-b.example.com/ https://a_b.example.com/ https://mylocal.dev/ https://notlocalhost.com/ https://onion.ly/ https://corp.com/
  https://home.arpa.com/ https://lan.party/ https://cdn.jsdelivr.net/x.js https://upload.wikimedia.org/a.svg
  https://1.1.1.1 https://8.8.8.8/x https://8.8.8.8:8443/ https://9.255.255.255/ https://11.0.0.0/ https://100.63.255.255/
  https://100.128.0.0/ https://126.255.255.255/ https://128.0.0.0/ https://169.253.255.255/ https://169.255.0.0/
  https://172.15.255.255/ https://172.32.0.0/ https://192.167.255.255/ https://192.169.0.0/ https://192.0.1.0/ https://192.0.3.0/
  https://198.17.255.255/ https://198.20.0.0/ https://198.51.99.255/ https://198.51.101.0/ https://203.0.112.255/
  https://203.0.114.0/ https://223.255.255.255/ 
  https://[2606:4700:4700::1111]/ https://[2001:4860:4860::8888]:8443/x https://[2a00:1450:4001:81b::200e]/ https://[2620:fe::fe]/
  https://[2606:4700:4700:0:0:0:0:1111]/ https://[2606:4700:4700::1.2.3.4]/ https://[2400:cb00::1]/ https://[2c0f:fb50::1]/
  https://[3ffe:ffff::1]/ https://[::ffff:8.8.8.8]/ https://[::ffff:808:808]/ https://[::8.8.8.8]/ https://[64:ff9b::8.8.8.8]/
  https://[2002:808:808::1]/ https://[2001:0:808:808:0:0:f7f7:f7f7]/ https://[2606:4700::5efe:8.8.8.8]/
`)

const BY_SCHEME = words(`
  http://example.com/ http://8.8.8.8/ ftp://example.com/ ws://example.com/ wss://example.com/ file:///etc/passwd file://host/x
  data:text/html,x data:image/png;base64,AAAA blob:https://example.com/1 javascript:alert(1) vbscript:x about:blank
  mailto:a@example.com tel:1 c:\\\\windows\\\\x C:/x gopher://example.com/ view-source:https://example.com/ filesystem:https://a.com/x
  chrome://settings intent://x magnet:?x urn:x:y s3://bucket/x gs://bucket/x ssh://a.com git://a.com ldap://a.com dict://a.com
  jar:https://a.com!/x httpss://example.com/ xhttps://example.com/
`)

const MALFORMED = [
  ...words(`
    / /x /etc/passwd //example.com/x ../x ./x ~ ~/x x x.png example.com example.com/x.png https https: https:// https:///
    https://? https://# https://: https://:443 https://[ https://] https://[] https://[::1 https://[:::1]/ https://[1::2::3]/
    https://[12345::]/ https://[::g]/ https://[fe80::1%eth0]/ https://[fe80::1%25eth0]/ https://[v1.x]/ https://[1.2.3.4]/
    https://[::1.2.3]/ https://[::1.2.3.256]/ https://[::01.2.3.4]/ https://[1:2:3:4:5:6:7]/ https://[1:2:3:4:5:6:7:8:9]/ https://example.com:65536/
    https://example.com:-1/ https://example.com:x/ https://256.1.1.1/ https://1.2.3.4.5/ https://1.2.3.256/ https://0x100000000/
    https://4294967296/ https://1.16777216/ https://08.1.1.1/ https://0xg.1.1.1/ https://example.0x1/ https://example.1/
    https://a<b.com/ https://a>b.com/ https://a^b.com/ https://a|b.com/ https://a%00b.com/ https://a%20b.com/
    https://a%2fb.com/ https://%zz.com/ https://user@ https://exam[ple].com/
  `),
  "",
  " ",
  "https://a b.com/",
  "https://\u00ad/",
  "https://\ud800.com/",
]

const WITH_CREDENTIALS = words(`
  https://user@example.com/ https://user:pass@example.com/ https://:pass@example.com/ https://user:@example.com/
  https://example.com@8.8.8.8/ https://8.8.8.8@example.com/ https://a%40b@example.com/ https://user:pass@127.0.0.1/
  https://example.com:80@example.org/ https:user@example.com/ https://a@b@example.com/ https://例@example.com/
`)

export const INNER_NAMES = words(`
  https://localhost/ https://localhost:8443/ https://LOCALHOST/ https://localhost./ https://ｌｏｃａｌｈｏｓｔ/ https://loc%61lhost/
  https://foo.localhost/ https://a.b.localhost/ https://foo.localhost./ https://printer.local/ https://printer.LOCAL/ https://printer.local./
  https://a.b.local/ https://db.internal/ https://a.db.internal/ https://nas.lan/ https://a.home.arpa/ https://home.arpa/
  https://box.home/ https://wiki.corp/ https://wiki.a.corp/ https://x.mail/ https://x.test/ https://x.example/ https://x.invalid/
  https://abcdef.onion/ https://x.alt/ https://1.0.0.127.in-addr.arpa/ https://ipv4only.arpa/ https://x.localdomain/ https://x.intranet/
  https://x.private/ https://x.i2p/ https://intranet/ https://wiki/ https://kubernetes/ https://router/ https://com/ https://com./
  https://kubernetes.default.svc.cluster.local/ https://host.docker.internal/ https://gateway.docker.internal/
  https://metadata.google.internal/ https://metadata/ https://metadata.goog/ https://metadata.goog./ https://a.metadata.goog/
  https://instance-data/ https://instance-data.ec2.internal/ https://metadata.tencentyun.com/ https://metadata.packet.net/
  https://metadata.platformequinix.com/ https://api.metadata.cloud.ibm.com/ https://metadata.azure.internal/ https://rancher-metadata/
  https://kubernetes.default.svc/ https://vault.service.consul/ https://db.docker/ https://app.localdev.me/ https://x.local.gd/
  https://127.0.0.1.backname.io/ https://7f000001.c0a80001.rbndr.us/ https://make-127.0.0.1-rr.1u.ms/ https://a.rebind.network/
  https://localtest.me/ https://x.localtest.me/ https://lvh.me/ https://127.0.0.1.nip.io/ https://10-0-0-1.sslip.io/ https://127.0.0.1.xip.io/
  https://fritz.box/ https://a..example.com/ https://.example.com/ https://example..com/ https://example.com../ https://./ https://../
  https://localhost。/ https://foo｡localhost/ https://_/ https://a/ https://ip6-localhost/ https://broadcasthost/ https://wpad/
`)

export const INNER_V4 = words(`
  https://0.0.0.0/ https://0.255.255.255/ https://0/ https://10.0.0.0/ https://10.255.255.255/ https://10.1/ https://100.64.0.0/
  https://100.100.100.200/ https://100.127.255.255/ https://127.0.0.0/ https://127.0.0.1/ https://127.0.0.1:8443/ https://127.0.0.1./ https://127.1/
  https://127.255.255.255/ https://2130706433/ https://0x7f000001/ https://0x7f.0.0.1/ https://0177.0.0.1/ https://017700000001/
  https://0x7f.1/ https://0177.1/ https://127.0x0.0.1/ https://127.0.1/ https://127.00.000.1/ https://0X7F.0.0.1/ https://0x7f.0x0.0x0.0x1/
  https://１２７.0.0.1/ https://127。0。0。1/ https://①②⑦.0.0.1/ https://%31%32%37.0.0.1/ https://169.254.0.0/
  https://169.254.169.254/latest/meta-data/ https://169.254.255.255/ https://2852039166/ https://0xa9fea9fe/ https://0251.0376.0251.0376/
  https://172.16.0.0/ https://172.31.255.255/ https://192.0.0.0/ https://192.0.0.192/ https://192.0.2.1/ https://192.88.99.1/
  https://192.168.0.0/ https://192.168.255.255/ https://192.168.257/ https://3232235777/ https://198.18.0.0/ https://198.19.255.255/
  https://198.51.100.1/ https://203.0.113.1/ https://224.0.0.1/ https://239.255.255.255/ https://240.0.0.1/ https://255.255.255.255/
  https://255.255.255.254/ https://4294967295/ https://0xffffffff/ https://168.63.129.16/
`)

export const INNER_V6 = words(`
  https://[::]/ https://[::1]/ https://[::1]:8443/ https://[0:0:0:0:0:0:0:1]/ https://[0000::0001]/ https://[::2]/ https://[::7f00:1]/
  https://[::127.0.0.1]/ https://[::10.0.0.1]/ https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[::FFFF:10.0.0.1]/
  https://[::ffff:169.254.169.254]/ https://[::ffff:a9fe:a9fe]/ https://[::ffff:0:0]/ https://[::ffff:192.168.0.1]/ https://[0:0:0:0:0:ffff:7f00:1]/
  https://[::ffff:0:127.0.0.1]/ https://[::ffff:0:8.8.8.8]/ https://[64:ff9b::127.0.0.1]/ https://[64:ff9b::a00:1]/
  https://[64:ff9b::169.254.169.254]/ https://[64:ff9b:1::8.8.8.8]/ https://[64:ff9b:1::10.0.0.1]/ https://[64:ff9b::1:0:0]/
  https://[2002:7f00:1::]/ https://[2002:a00:1::1]/ https://[2002:a9fe:a9fe::1]/ https://[2002:c0a8:1::]/ https://[2002::]/
  https://[2001:0:808:808:0:0:80ff:fffe]/ https://[2001:0:808:808::f5ff:fffe]/ https://[2001:0:a00:1:0:0:f7f7:f7f7]/ https://[2001::1]/
  https://[fe80::1]/ https://[febf::1]/ https://[fec0::1]/ https://[fc00::1]/ https://[fd00:ec2::254]/ https://[fdff::1]/ https://[ff02::1]/
  https://[ff0e::1]/ https://[100::1]/ https://[100:0:0:1::1]/ https://[2001:2::1]/ https://[2001:db8::1]/ https://[2001:10::1]/
  https://[2001:20::1]/ https://[2001:30::1]/ https://[2001:1::1]/ https://[3fff::1]/ https://[5f00::1]/ https://[4000::1]/ https://[1::1]/ https://[8000::1]/
  https://[e000::1]/ https://[200::1]/ https://[2606:4700::5efe:10.0.0.1]/ https://[2606:4700::200:5efe:127.0.0.1]/
`)

/**
 * URLs that parsers interpret differently. Attackers use such URLs against servers that check them with one parser and
 * fetch them with another.
 */
export const AMBIGUOUS: readonly (readonly [url: string, verdict: UrlFlaw])[] = [
  // Missing or extra slashes, and backslashes instead of slashes.
  ["https:example.com/x", "malformed"],
  ["https:/example.com/x", "malformed"],
  ["https:///example.com/x", "malformed"],
  ["https:////example.com/x", "malformed"],
  ["https:\\\\example.com\\x", "malformed"],
  ["https:/\\example.com/x", "malformed"],
  ["https://\\example.com/x", "malformed"],
  ["https://example.com\\x", "malformed"],
  ["https://example.com/a\\b", "malformed"],
  ["https://example.com?x=\\", "malformed"],
  // An `@` that may or may not end the user info.
  ["https://example.com\\@example.org/", "credentials"],
  ["https://example.com/\\@example.org/", "malformed"],
  ["https://@example.com/", "credentials"],
  ["https://:@example.com/", "credentials"],
  ["https://example.com&@example.org#@example.net/", "credentials"],
  ["https://foo@example.com:443@example.org/", "credentials"],
  // Whitespace and control characters that some parsers drop and others send.
  [" https://example.com/", "malformed"],
  ["https://example.com/ ", "malformed"],
  ["\u0000https://example.com/", "malformed"],
  ["ht\ttps://example.com/", "malformed"],
  ["https://exam\tple.com/", "malformed"],
  ["https://example.com\n/", "malformed"],
  ["https://example.com/a\r\nHost: example.org", "malformed"],
  ["https://example.com/a\tb", "malformed"],
  ["https://example.com/\u007f", "malformed"],
  // Host names that are percent-encoded, use letters or dots outside ASCII, or contain invalid characters.
  ["https://exa%6dple.com/", "host"],
  ["https://example%2ecom/", "host"],
  ["https://ｅｘａｍｐｌｅ.com/", "host"],
  ["https://ⓔxample.com/", "host"],
  ["https://example。com/", "host"],
  ["https://example．com/", "host"],
  ["https://exam\u00adple.com/", "host"],
  ["https://example.com;example.org/", "host"],
  ["https://example.com,example.org/", "host"],
  ["https://example.com&example.org/", "host"],
  ["https://$example.com/", "host"],
  ["https://example.com'/", "host"],
  ["https://*.example.com/", "host"],
  ["https://(example).com/", "host"],
  [`https://${"a".repeat(64)}.com/`, "host"],
  [`https://${"é".repeat(60)}.com/`, "host"],
  // Addresses that some parsers read as octal, hexadecimal or abbreviated.
  ["https://134744072/", "host"],
  ["https://0x08080808/", "host"],
  ["https://0x8.0x8.0x8.0x8/", "host"],
  ["https://010.010.010.010/", "host"],
  ["https://08.8.8.8/", "malformed"],
  ["https://8.8.8.010/", "host"],
  ["https://008.8.8.8/", "malformed"],
  ["https://8.8.2056/", "host"],
  ["https://8.526344/", "host"],
  ["https://8.8.8.8./", "host"],
  ["https://８.8.8.8/", "host"],
  ["https://8%2e8.8.8/", "host"],
  // Ports of other protocols, and ports in other notations.
  ...[0, 1, 7, 22, 23, 25, 53, 110, 143, 389, 465, 587, 993, 995, 2049, 5060, 6000, 6667, 10080].map(
    (port) => [`https://example.com:${port}/`, "port"] as const,
  ),
  ...[445, 1433, 3306, 3389, 5432, 5900, 6379, 9042, 11211, 27017].map(
    (port) => [`https://8.8.8.8:${port}/`, "port"] as const,
  ),
  ["https://[2606:4700:4700::1111]:22/", "port"],
  ["https://example.com:0443/", "port"],
  ["https://example.com:00/", "port"],
  ["https://example.com:443:80/", "malformed"],
  ["https://example.com: 443/", "malformed"],
  ["https://example.com:+443/", "malformed"],
  ["https://example.com:４４３/", "malformed"],
]

const TABLE: readonly (readonly ["ok" | UrlFlaw, readonly string[]])[] = [
  ["ok", PUBLIC],
  ["scheme", BY_SCHEME],
  ["malformed", MALFORMED],
  ["credentials", WITH_CREDENTIALS],
  ["host", INNER_NAMES],
  ["host", INNER_V4],
  ["host", INNER_V6],
]

export const ROWS = [...TABLE.flatMap(([verdict, urls]) => urls.map((url) => [url, verdict] as const)), ...AMBIGUOUS]
