// Opens the served screen in a headless browser, types a wish, waits for a product card, and keeps a screenshot.
// usage: node browser_run.cjs URL SCREENSHOT.png     (playwright-core is found through NODE_PATH)
// CHROMIUM names the browser; Debian's is /usr/bin/chromium.
const { chromium } = require("playwright-core");

const [url, picture] = process.argv.slice(2);
const DEADLINE_MS = 60_000;

(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const abroad = [];
    page.on("request", (request) => {
      const asked = new URL(request.url());
      if (asked.protocol.startsWith("http") && asked.host !== new URL(url).host) abroad.push(request.url());
    });
    // The terminal is painted on a canvas: what it is told to paint is read off the websocket.
    let painted = "";
    page.on("websocket", (socket) => {
      socket.on("framereceived", (frame) => {
        painted += Buffer.isBuffer(frame.payload) ? frame.payload.toString("utf8") : frame.payload;
      });
    });
    const see = async (what, pattern) => {
      const until = Date.now() + DEADLINE_MS;
      while (!pattern.test(painted)) {
        if (Date.now() > until) {
          await page.screenshot({ path: picture });
          throw new Error(`did not see ${what}; the screenshot shows what there was`);
        }
        await page.waitForTimeout(100);
      }
      console.log(`saw ${what}`);
    };
    await page.goto(url);
    await see("the prompt", /What are you looking for\? {2}\//);
    await see("the open shop", /Hello\. What are you looking for in /);
    await page.locator("#terminal").click();
    painted = "";
    await page.keyboard.type("power bank under 20k", { delay: 15 });
    await page.keyboard.press("Enter");
    await see("a price on a card", /₦[0-9,]+/);
    await see("what it leaves of the budget", /₦[0-9,]+ under/);
    await page.waitForTimeout(1000); // let the last frame be painted
    await page.screenshot({ path: picture });
    if (abroad.length) throw new Error(`asked for something from elsewhere: ${abroad.join(", ")}`);
    console.log(`screenshot: ${picture}`);
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
