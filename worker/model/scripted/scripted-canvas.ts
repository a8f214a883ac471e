/** scripted-canvas.ts: the HTML documents that the scripted model can create: a clock and a counter. */

const createPage = (style: string, body: string): string =>
  [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Canvas</title>',
    "<style>html{color-scheme:light dark}body{margin:0;height:100vh;display:grid;place-items:center;",
    `font:16px system-ui,sans-serif}${style}</style>${body}</html>`,
  ].join("\n")

export const CLOCK_HTML: string = createPage(
  "svg{width:min(90vw,90vh)}line{stroke:currentColor;stroke-linecap:round}#s{stroke:#d9482b}",
  [
    '<svg viewBox="-50 -50 100 100" role="img" aria-label="Clock">',
    '<circle r="47" fill="none" stroke="currentColor" stroke-width="2"/>',
    '<g id="ticks"></g><line id="h" y2="-24" stroke-width="4"/><line id="m" y2="-36" stroke-width="3"/>',
    '<line id="s" y1="8" y2="-40" stroke-width="1"/></svg>',
    "<script>",
    "const ticks=document.getElementById('ticks');",
    "for(let i=0;i<12;i++){const t=document.createElementNS('http://www.w3.org/2000/svg','line');",
    "t.setAttribute('y1','-44');t.setAttribute('y2',i%3?'-41':'-37');t.setAttribute('stroke-width','1.5');",
    "t.setAttribute('transform','rotate('+i*30+')');ticks.append(t)}",
    "const turn=(id,deg)=>document.getElementById(id).setAttribute('transform','rotate('+deg+')');",
    "const show=()=>{const d=new Date(),s=d.getSeconds(),m=d.getMinutes()+s/60,h=d.getHours()%12+m/60;",
    "turn('h',h*30);turn('m',m*6);turn('s',s*6)};show();setInterval(show,1000);",
    "</script>",
  ].join("\n"),
)

export const COUNTER_HTML: string = createPage(
  "output{font-size:56px;min-width:3ch;text-align:center}main{display:flex;gap:16px;align-items:center}button{font-size:28px;width:56px;height:56px;border-radius:12px}",
  [
    '<main><button id="less" aria-label="Less">−</button><output id="n">0</output><button id="more" aria-label="More">+</button></main>',
    "<script>let n=0;const show=()=>{document.getElementById('n').textContent=n};",
    "document.getElementById('less').onclick=()=>{n--;show()};document.getElementById('more').onclick=()=>{n++;show()};</script>",
  ].join("\n"),
)
