import theme from 'vitepress/theme-without-fonts';

export default theme;
