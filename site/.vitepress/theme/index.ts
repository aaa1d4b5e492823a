import theme from 'vitepress/theme-without-fonts';
import './contrast.css';

export default theme;
