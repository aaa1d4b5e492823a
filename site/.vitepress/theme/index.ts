import theme from 'vitepress/theme-without-fonts';
import './contrast.css';
import './layout.css';

export default theme;
